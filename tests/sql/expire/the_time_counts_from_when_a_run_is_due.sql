-- SPDX-License-Identifier: Apache-2.0
select plan(15);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as d from pawl.trigger('test.flow', delay => '1 hour', expires => '1 min') \gset
select run_id as w from pawl.trigger('test.flow', delay => '1 hour', expires => '1 min') \gset
select is((select answer from pawl.wake(array[:'w'::uuid])), 'ok', 'one is woken early');
select t.later('61 s') \g /dev/null
select is(t.state(:'w'), 'CANCELLED', 'and has a minute from then');
select t.later('59 min 30 s') \g /dev/null
select is(t.state(:'d'), 'QUEUED', 'the other has it when it is due');
select t.later('30 s') \g /dev/null
select is(t.state(:'d'), 'CANCELLED', 'and not more');

select pawl.alter_workflow('test.flow', '{"expires": "1 min"}') \g /dev/null
select is((select expires from pawl.list_workflows() where workflow = 'test.flow'), interval '1 min', 'a workflow may say it for all');
select run_id as a from pawl.trigger('test.flow') \gset
select run_id as b from pawl.trigger('test.flow', expires => '1 hour') \gset
select array_agg(run_id) as m from pawl.trigger_many('test.flow', '{"{}","{}"}') \gset
select array_agg(run_id) as n from pawl.trigger_many('test.flow', '{"{}","{}"}', expires => '1 hour') \gset
select array_agg(run_id) as g from pawl.trigger_many('test.flow', '{"{}"}', ids => array[pawl.make_id()]) \gset
select pawl.alter_workflow('test.flow', '{"expires": null}') \g /dev/null
select run_id as c from pawl.trigger('test.flow') \gset
select t.later('61 s') \g /dev/null
select is(t.state(:'a'), 'CANCELLED', 'a run without its own has that of the workflow');
select is(t.state(:'b'), 'QUEUED', 'its own comes first');
select is((select count(*) from pawl.list_states(:'m'::uuid[]) where status = 'CANCELLED'), 2::bigint, 'the same for many');
select is((select count(*) from pawl.list_states(:'n'::uuid[]) where status = 'QUEUED'), 2::bigint, 'and of their own');
select is((select count(*) from pawl.list_states(:'g'::uuid[]) where status = 'CANCELLED'), 1::bigint, 'with ids, too');
select is(t.state(:'c'), 'QUEUED', 'a run that was triggered after it was taken back does not expire');

select throws_ok($$select pawl.trigger('test.flow', expires => '0')$$, 'PW003', 'expires must be more than 0 and at most ten years', 'more than 0');
select throws_ok($$select pawl.trigger('test.flow', expires => '11 years')$$, 'PW003', null, 'at most ten years');
select throws_ok($$select pawl.trigger_many('test.flow', '{"{}"}', expires => '-1 s')$$, 'PW003', null, 'the same for many');
select throws_ok($$select pawl.alter_workflow('test.flow', '{"expires": "0"}')$$, 'PW003', null, 'and for a workflow');
select * from finish();
