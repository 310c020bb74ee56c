-- SPDX-License-Identifier: Apache-2.0
-- The statistics are of another run, in which all records are of one task, as autovacuum may find it at any time.
select plan(4);
select t.session() as s \gset
select t.run() as other \gset
select t.flow('many.flow', '[["a"]]');
select run_id as r from pawl.trigger('many.flow', '5') \gset
create function pg_temp.add_records(run uuid, first_task int, last_task int, records int) returns void language sql as $$
    insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
    select run, n, 1, 's', 's', m, 1, 1, pawl.now(), pawl.now(), 's' || m, '1'
    from generate_series(first_task, last_task) n, generate_series(1, records) m;
$$;
create function pg_temp.records_read() returns bigint language sql as $$
    select sum(coalesce(x.idx_tup_fetch, 0) + x.seq_tup_read)::bigint
    from pg_stat_xact_all_tables x
    where x.schemaname = 'pawl_data' and x.relname ~ '^step(_|$)'
$$;
select pg_temp.add_records(:'other', 0, 0, 3000);
analyze pawl_data.step;
select pg_temp.add_records(:'r', 2000001, 2003000, 1);

begin;
select pg_temp.records_read() as before \gset
select is((select string_agg(task_no::text, ' ' order by task_no) from pawl._steps_of(array[:'r'::uuid], '{2000007,2000008,2000007}')), '2000007 2000008',
    'each record of two tasks is found once');
select cmp_ok(pg_temp.records_read() - :before, '<', 10::bigint, 'those of 2,998 other tasks are not read');
commit;
begin;
select pg_temp.records_read() as before \gset
select is((select string_agg(task_no::text, ' ' order by task_no) from pawl._outputs(array[:'r'::uuid], '{2000007,2000008,2000007}')), '2000007 2000008',
    'the result of each is found once');
select cmp_ok(pg_temp.records_read() - :before, '<', 10::bigint, 'those of 2,998 other tasks are not read');
commit;
select * from finish();
