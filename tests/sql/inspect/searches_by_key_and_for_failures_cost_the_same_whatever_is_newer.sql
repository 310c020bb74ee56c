-- SPDX-License-Identifier: Apache-2.0
-- Compares buffers with few and with many newer runs. bench/engine does the same with a million.
select plan(8);
select pawl.create_workflow('a.flow'), pawl.create_workflow('busy.flow') \gset
select run_id as r from pawl.trigger('a.flow', key => 'wanted') \gset
create function buffers(statement text) returns bigint language plpgsql as $$
declare v_plan json; v_least bigint;
begin
    -- The least of some calls: others read the catalog as well.
    for i in 1..8 loop
        execute 'explain (analyze, buffers, timing off, summary off, format json) ' || statement into v_plan;
        v_least := least(v_least, (v_plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v_plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint);
    end loop;
    return v_least;
end $$;
create function fill(count int, status "char", step interval) returns void language sql as $$
    select pawl.test_clock_advance('1 min');
    insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant)
    select pawl._id_make(pawl.now() + g * step), 1, status, 100, q.queue_id, 1, 1, pawl.now(), pawl.now(), false, false, ''
    from generate_series(1, count) g, pawl_data.queue q where q.name = 'busy.flow'
$$;
create function costs(out by_key bigint, out failures bigint) language sql as $$
    select buffers($s$select * from pawl.list_runs(only_key => 'wanted')$s$), buffers($s$select * from pawl.list_runs(only_status => 'ERROR', max_rows => 20)$s$)
$$;
select pawl.test_clock_set('2030-01-01 12:00+00') \gset
select pawl.housekeep() \gset
select fill(40, 'e', '1 ms') \gset
select fill(500, 's', '0.1 ms') \gset
select by_key as key_few, failures as failures_few from costs() \gset
-- Statistics from before the many: by them a hash of all living runs looked cheap.
analyze pawl_data.run, pawl_data.task;
select fill(20000, 's', '0.01 ms') \gset
-- Living runs, too.
select count(*) as n from pawl.trigger_many('busy.flow', array(select to_json(n) from generate_series(1, 5000) n)) \gset
select by_key as key_many, failures as failures_many from costs() \gset
analyze pawl_data.run, pawl_data.task;
select by_key as key_analysed, failures as failures_analysed from costs() \gset
-- An index may get one level higher meanwhile, once for each run that is looked up.
select cmp_ok(:key_many, '<=', :key_few + 8, 'by key');
select cmp_ok(:failures_many, '<=', :failures_few + 3 * 20 + 8, 'the newest failures');
select cmp_ok(:key_analysed, '<=', 60, 'by key few, with statistics');
select cmp_ok(:failures_analysed, '<=', :failures_few + 3 * 20 + 8, 'the newest failures, with statistics');
select cmp_ok(:key_many, '<=', 60, 'by key few');
select cmp_ok(:failures_many, '<=', 20 * 8, 'for each failure few');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_key => 'wanted')), :'r', 'the run is found');
select is((select count(*) from pawl.list_runs(only_status => 'ERROR', max_rows => 20)), 20::bigint, 'and so are the failures');
select * from finish();
