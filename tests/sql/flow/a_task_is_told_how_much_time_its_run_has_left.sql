-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select pawl.create_flow('t.flow', max_attempts => 1, run_timeout => '1 min', step_timeout => '5 s') as c \gset
select pawl.add_step('t.flow', 'a') as c \gset
select pawl.add_step('t.flow', 'each', '{a}', '{"map": "run"}') as c \gset
select t.flow('free.flow', '[["a"]]') \g /dev/null
create function pg_temp.told(session bigint, request int) returns text language sql as $$
    select string_agg(concat_ws(' ', c.workflow, coalesce(c.step_timeout_ms::text, '-'), coalesce(c.run_timeout_ms::text, '-')), ', ' order by c.workflow, c.task)
    from pawl.claim(session, 10, request) c
$$;
select run_id as r from pawl.trigger('t.flow', '[1, 2]') \gset
select is(pg_temp.told(:s, 1), 't.flow/a 5000 60000', 'all of it');
select t.later('20 s', :s) \g /dev/null
select is(pg_temp.told(:s, 1), 't.flow/a 5000 40000', 'a repeated claim says what is left then');
select t.done(:s, :'r', 'a', '1') as c \gset
select t.run('test.coded') as coded \gset
select run_id as f from pawl.trigger('free.flow') \gset
select is(pg_temp.told(:s, 2), 'free.flow/a - -, t.flow/each 5000 40000, t.flow/each 5000 40000, test.coded - -', 'later tasks what is left, others nothing');
select t.later('10 s', :s) \g /dev/null
select t.session() as other \gset
select pawl.leave(:s) as given \gset
select is(:given, 4, 'given back');
select is(pg_temp.told(:other, 1), 'free.flow/a - -, t.flow/each 5000 30000, t.flow/each 5000 30000, test.coded - -', 'whoever takes them over is told the same');
-- Another round has its own limit.
select answer from pawl.kill(array[:'r'::uuid]) \gset
select answer from pawl.retry(array[:'r'::uuid]) \gset
select is(pg_temp.told(:other, 2), 't.flow/each 5000 60000, t.flow/each 5000 60000', 'in another round from the beginning');
-- One that a step of the flow is a child of has its own.
select pawl.create_flow('outer.flow') as c \gset
select pawl.add_step('outer.flow', 'inner', '{}', '{"workflow": "t.flow"}') as c \gset
select pawl.add_step('outer.flow', 'beside') as c \gset
select run_id as o from pawl.trigger('outer.flow') \gset
select is(pg_temp.told(:other, 3), 'outer.flow/beside - -, t.flow/a 5000 60000', 'not those of its parent''s siblings');
-- A worker that keeps to it is as good as the engine.
select pawl.test_clock_advance('61 s') \g /dev/null
select is(t.failed(:other, (select run_id from pawl.list_runs('t.flow') where parent_id = :'o'), 'a', '{"code": "timeout"}'), 'ok', 'the worker lets go when the time is over');
select is((select string_agg(concat_ws(' ', r.status, r.error ->> 'code'), ', ') from pawl.list_runs('t.flow') l, pawl.result(l.run_id) r where l.parent_id = :'o'), 'ERROR timeout', 'which is why the run ends');
select * from finish();
