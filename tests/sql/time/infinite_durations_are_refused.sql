-- SPDX-License-Identifier: Apache-2.0
-- From PostgreSQL 17 on there are infinite intervals; before that the longest finite ones take their place.
select * from no_plan();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.create_flow('f.flow') \gset
create temp table verb as select unnest(array[
    $$select pawl.create_workflow('x.flow', base => %L)$$,
    $$select pawl.create_workflow('x.flow', cap => %L)$$,
    $$select pawl.create_workflow('x.flow', run_timeout => %L)$$,
    $$select pawl.create_workflow('x.flow', step_timeout => %L)$$,
    $$select pawl.create_flow('y.flow', base => %L)$$,
    $$select pawl.create_flow('y.flow', cap => %L)$$,
    $$select pawl.create_flow('y.flow', run_timeout => %L)$$,
    $$select pawl.create_flow('y.flow', step_timeout => %L)$$,
    $$select pawl.alter_workflow('test.flow', json_build_object('base', %L))$$,
    $$select pawl.alter_workflow('test.flow', json_build_object('cap', %L))$$,
    $$select pawl.alter_workflow('test.flow', json_build_object('run_timeout', %L))$$,
    $$select pawl.add_step('f.flow', 'a', '{}', json_build_object('delay', %L))$$,
    $$select pawl.add_step('f.flow', 'a', '{}', json_build_object('timeout', %L))$$,
    $$select pawl.add_step('f.flow', 'a', '{}', json_build_object('base', %L))$$,
    $$select pawl.add_step('f.flow', 'a', '{}', json_build_object('cap', %L))$$,
    $$select * from pawl.trigger('test.flow', delay => %L)$$,
    $$select * from pawl.trigger('test.flow', key => 'k', key_ttl => %L)$$,
    $$select * from pawl.trigger('test.flow', expires => %L)$$,
    $$select * from pawl.trigger('test.flow', key => 'd', debounce => %L)$$,
    $$select * from pawl.trigger('test.flow', key => 'd', debounce => '1 s', debounce_max => %L)$$,
    $$select * from pawl.trigger_many('test.flow', array['1']::json[], expires => %L)$$,
    $$select * from pawl.trigger_many('test.flow', array['1']::json[], delay => %L)$$,
    $$select * from pawl.trigger_many('test.flow', array['1']::json[], array['k'], key_ttl => %L)$$,
    $$select * from pawl.register('w', '{*}', lease => %L)$$,
    $$select * from pawl.set_retention(run_retention => %L)$$,
    $$select * from pawl.set_retention(event_retention => %L)$$,
    $$select pawl.create_schedule('s', 'test.flow', every => %L)$$,
    $$select pawl.create_schedule('s', 'test.flow', cron => '0 0 * * *', catch_up_within => %L)$$,
    $$select pawl.create_schedule('s', 'test.flow', cron => '0 0 * * *', jitter => %L)$$,
    $$select pawl.create_token('t', sha256('t'), '{reader}', expires => %L)$$,
    $$select * from pawl.metrics(since => %L)$$, $$select * from pawl.count_runs(since => %L)$$]) as call;
create temp table wait as select format(c, :s, :'r', :f) as call from unnest(array[
    $$select * from pawl.sleep(%1$s, %2$L, %3$s, 'x', %%L)$$,
    $$select * from pawl.wait_event(%1$s, %2$L, %3$s, 'x', 'y', timeout => %%L)$$,
    $$select * from pawl.wait_signal(%1$s, %2$L, %3$s, 'x', timeout => %%L)$$]) c;
select throws_ok(format(call, '170000000 years'), 'PW003', null, 'too long: ' || split_part(split_part(call, '(', 1), ' ', -1)) from verb;
select throws_ok(format(call, x), 'PW003', null, x || ': ' || split_part(split_part(call, '(', 1), ' ', -1))
from (select * from verb union all select * from wait) v, unnest(array['infinity', '-infinity']) x where current_setting('server_version_num')::int >= 170000;
select lives_ok(format('select * from pawl.sleep(%s, %L, %s, ''x'', ''170000000 years'')', :s, :'r', :f), 'a sleep of any finite length is accepted');
select is((select due_at < 'infinity' from pawl_data.wait where run_id = :'r'), true, 'and ends some day');
-- A verb with a duration that this test does not know would not be tried.
select is((select string_agg(p.proname || ': ' || n.name, ', ') from pg_proc p, unnest(p.proargnames, p.proargtypes::oid[]) n (name, type)
    where p.pronamespace = 'pawl'::regnamespace and p.proname not like '\_%' and p.proname not like 'test\_%' and n.type = 'interval'::regtype
      and not exists (select from (select * from verb union all select * from wait) v where v.call ~ ('pawl[.]' || p.proname || '[(]') and (v.call ~ (n.name || ' => ') or n.name = 'duration'))), null, 'every argument of type interval was tried');
select * from finish();
