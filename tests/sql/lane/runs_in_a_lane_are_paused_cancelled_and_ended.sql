-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
select run_id as a from pawl.trigger('test.flow', limit_key => 'k') \gset
select run_id as b from pawl.trigger('test.flow', limit_key => 'k') \gset
select run_id as c from pawl.trigger('test.flow', limit_key => 'k') \gset
select run_id as d from pawl.trigger('test.flow', limit_key => 'k', priority => 200) \gset
select is((select string_agg(answer, ' ') from pawl.pause(array[:'a', :'b']::uuid[])), 'ok ok', 'two are paused');
select is((select string_agg(answer, ' ') from pawl.wake(array[:'c']::uuid[])), 'already', 'one that waits in its lane is due already');
select is((select answer from pawl.cancel(array[:'c'::uuid])), 'ok', 'one is cancelled');
select is(t.state(:'c'), 'CANCELLED', 'at once');
select is(t.lane_faults(), 'none', 'lanes fit');
select is((select run_id from pawl.claim(:s, 10)), :'d'::uuid, 'the last is claimed');
select is((select string_agg(answer, ' ') from pawl.resume(array[:'a', :'b']::uuid[])), 'ok ok', 'resumed');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'they wait for room');
select is((select string_agg(status, ' ' order by run_id) from pawl.list_runs(only_status => 'QUEUED')), 'QUEUED QUEUED', 'and are listed');
select answer from pawl.complete(:s, :'d', 1) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'one of them');
select is((select string_agg(answer, ' ' order by answer) from pawl.kill(array[:'a', :'b']::uuid[])), 'ok ok', 'both are killed, held or not');
select is(t.lane_faults(), 'none', 'lanes fit afterwards');
select * from finish();
