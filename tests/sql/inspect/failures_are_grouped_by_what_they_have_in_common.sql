-- SPDX-License-Identifier: Apache-2.0
select plan(15);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('a.flow', max_attempts => 1), pawl.create_workflow('b.flow', max_attempts => 1) \gset
create function pg_temp.fail(p_session bigint, p_workflow text, p_error json) returns uuid language plpgsql as $$
declare v_run uuid; v_fence int;
begin
    select h.run_id, h.fence into v_run, v_fence from t.held(p_session, p_workflow) h;
    perform pawl.fail(p_session, v_run, v_fence, p_error, final => true);
    perform pawl.test_clock_advance('1 s');
    return v_run;
end $$;
create function pg_temp.groups() returns text language sql as $$ select string_agg(concat_ws(' ', workflow, runs, error_code, error_line), ', ') from pawl.list_failures() $$;
select is(pg_temp.groups(), null, 'nothing has failed');
select pg_temp.fail(:s, 'a.flow', '{"code": "E1", "message": "order 17 of \"ada\" not found\nat line 3"}') as first \gset
select pg_temp.fail(:s, 'a.flow', '{"code": "E1", "message": "order 23 of \"bob\" not found"}'),
       pg_temp.fail(:s, 'a.flow', '{"code": "E1", "message": "order 0198c5d2-aaaa-7bbb-8ccc-123456789abc of \"eve\" not found"}') as last \gset
select pg_temp.fail(:s, 'a.flow', '{"code": "E2", "message": "order 23 of \"bob\" not found"}') \g /dev/null
select pg_temp.fail(:s, 'b.flow', '{"code": "E1", "message": "order 17 of \"ada\" not found"}') \g /dev/null
select pg_temp.fail(:s, 'b.flow', '"plain"') \g /dev/null
select is(pg_temp.groups(), 'a.flow 3 E1 order 0198c5d2-aaaa-7bbb-8ccc-123456789abc of "eve" not found, b.flow 1 plain, b.flow 1 E1 order 17 of "ada" not found, a.flow 1 E2 order 23 of "bob" not found',
    'by workflow, code and message without numbers, ids and quotes; the largest first');
select is((select concat_ws(' ', first_run, last_run, last_at - first_at) from pawl.list_failures() where runs = 3), concat_ws(' ', :'first', :'last', '00:00:02'), 'with the first and the last');
select is((select bars[24] || ' ' || (select sum(b) from unnest(bars) b) from pawl.list_failures() where runs = 3), '3 3', 'and when they ended');
select is((select bars from pawl.list_failures(since => pawl.now() - interval '24 s') where runs = 3), array_fill(0::bigint, array[18]) || array[1, 1, 1, 0, 0, 0]::bigint[], 'in the 24th parts of the time');
select is((select string_agg(workflow, ' ') from pawl.list_failures(only_workflow => 'b.*')), 'b.flow b.flow', 'of some workflows');
select is((select count(*) from pawl.list_failures(since => pawl.now() - interval '2 s')), 2::bigint, 'since a time');
select is((select count(*) from pawl.list_failures(only_tenant => 'other')), 0::bigint, 'of a tenant');
select is((select count(*) from pawl.list_failures(max_rows => 1)), 1::bigint, 'as many as asked for');
select is((select count(*) from pawl.list_failures(null, null, null, null, null)), 0::bigint, 'null');
select answer as retried from pawl.retry(array[:'last'::uuid]) \gset
select is((select sum(runs) from pawl.list_failures()), 5::numeric, 'a run that is retried is left out');
-- In lists.
select is((select concat_ws('|', error_code, error_line) from pawl.list_runs(only_workflow => 'a.flow') where run_id = :'first'), 'E1|order 17 of "ada" not found', 'a list of runs has the first line');
-- More than are examined, all of them newer.
insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant, error)
select pawl._id_make(pawl.now() + g * interval '0.01 ms'), 1, 'e', 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, '', '{"message": "again"}'
from generate_series(1, 10100) g, pawl_data.queue q where q.name = 'b.flow';
select is((select concat_ws(' ', count(*), sum(runs), bool_and(next_cursor is not null)) from pawl.list_failures()), '1 10000 t', '10,000 are examined');
select is((select concat_ws(' ', count(*), sum(runs), bool_and(next_cursor is null)) from pawl.list_failures(cursor => (select next_cursor from pawl.list_failures() limit 1))), '5 105 t', 'the cursor continues');
select is((select concat_ws(' ', count(*), count(workflow), count(next_cursor)) from pawl.list_failures(since => pawl.now() + interval '1 s')), '1 0 1', 'where none is recent enough, there is only the cursor');
select * from finish();
