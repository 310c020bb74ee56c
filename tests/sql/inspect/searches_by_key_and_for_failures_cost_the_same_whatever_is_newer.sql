-- SPDX-License-Identifier: Apache-2.0
-- Compares buffers with few and with many newer runs. bench/engine does the same with a million.
select plan(22);
select pawl.create_workflow('a.flow'), pawl.create_workflow('busy.flow') \gset
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
    from generate_series(1, count) g, pawl_data.queue q where q.name = 'busy.flow';
    insert into pawl_data.tag (run_id, tenant, tag)
    select pawl._id_make(pawl.now() + g * step), 'busy', t from generate_series(1, count) g, unnest(array['shared', 'number=' || g]) t
$$;
create function costs(out by_key bigint, out failures bigint, out by_id bigint, out grouped bigint, out states bigint, out counts bigint, out by_tag bigint, out of_tenant bigint, out found bigint) language sql as $$
    select buffers($s$select * from pawl.list_runs(only_key => 'wanted')$s$), buffers($s$select * from pawl.list_runs(only_status => 'ERROR', max_rows => 20)$s$),
           buffers(format('select * from pawl.find(%L)', (select left(run_id::text, 22) from pawl_data.task order by run_id limit 1))),
           buffers('select * from pawl.list_failures()'), buffers('select * from pawl.list_states(array(select run_id from pawl_data.run where status = ''e'' order by run_id limit 20))'),
           buffers('select * from pawl.count_runs()'), buffers($s$select * from pawl.list_runs(only_tag => 'wanted')$s$),
           buffers($s$select * from pawl.list_runs(only_tag => 'shared', only_tenant => 'acme')$s$), buffers($s$select * from pawl.find('also')$s$)
$$;
select pawl.test_clock_set('2030-01-01 12:00+00') \gset
select pawl.housekeep() \gset
select run_id as r from pawl.trigger('a.flow', key => 'wanted', tags => array['wanted', 'also']) \gset
select run_id as acme from pawl.trigger('a.flow', tenant => 'acme', tags => array['shared']) \gset
select fill(40, 'e', '1 ms') \gset
select fill(500, 's', '0.1 ms') \gset
select by_key as key_few, failures as failures_few, by_id as id_few, grouped as grouped_few, states as states_few, counts as counts_few, by_tag as tag_few, of_tenant as tenant_few, found as found_few from costs() \gset
-- Statistics from before the many: by them a hash of all living runs looked cheap.
analyze pawl_data.run, pawl_data.task;
select fill(20000, 's', '0.01 ms') \gset
-- Living runs, too.
select count(*) as n from pawl.trigger_many('busy.flow', array(select to_json(n) from generate_series(1, 5000) n)) \gset
select by_key as key_many, failures as failures_many, by_tag as tag_many, of_tenant as tenant_many, found as found_many from costs() \gset
analyze pawl_data.run, pawl_data.task, pawl_data.tag;
select by_key as key_analysed, failures as failures_analysed, by_id as id_analysed, grouped as grouped_analysed, states as states_analysed, counts as counts_analysed, by_tag as tag_analysed, of_tenant as tenant_analysed, found as found_analysed from costs() \gset
-- An index may get one level higher meanwhile, once for each run that is looked up.
select cmp_ok(:key_many, '<=', :key_few + 8, 'by key');
select cmp_ok(:failures_many, '<=', :failures_few + 3 * 20 + 8, 'the newest failures');
select cmp_ok(:key_analysed, '<=', 60, 'by key few, with statistics');
select cmp_ok(:failures_analysed, '<=', :failures_few + 3 * 20 + 8, 'the newest failures, with statistics');
select cmp_ok(:key_many, '<=', 60, 'by key few');
select cmp_ok(:failures_many, '<=', 20 * 8, 'for each failure few');
select cmp_ok(:id_analysed, '<=', :id_few + 48, 'by the beginning of an id');
select cmp_ok(:id_analysed, '<=', 400, 'by it few');
select cmp_ok(:grouped_analysed, '<=', :grouped_few + 3 * 2 * 40 + 16, 'failures in groups');
select cmp_ok(:states_analysed, '<=', :states_few + 3 * 4 * 20 + 16, 'states');
-- The living runs that came are counted, one by one, and no ended one is.
select cmp_ok(:counts_analysed, '<=', :counts_few + 5000, 'counts');
-- An index for each day that is retained.
select cmp_ok(greatest(:tag_many, :tag_analysed), '<=', :tag_few + 16, 'by a tag');
select cmp_ok(greatest(:tenant_many, :tenant_analysed), '<=', :tenant_few + 16, 'by a tag that a tenant shares with another');
select cmp_ok(greatest(:found_many, :found_analysed), '<=', :found_few + 16, 'what is found by a tag');
select cmp_ok(greatest(:tag_few, :tag_many, :tag_analysed), '<=', 400, 'by a tag few');
select cmp_ok(greatest(:found_few, :found_many, :found_analysed), '<=', 400, 'found with few');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_tag => 'wanted')), :'r', 'the run with a tag is found');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_tag => 'shared', only_tenant => 'acme')), :'acme', 'and that of the tenant');
select is((select string_agg(run_id::text, ' ') from pawl.find('also')), :'r', 'and what find finds');
select is((select count(*) from pawl.find((select left(run_id::text, 22) from pawl_data.task order by run_id limit 1)) where what = 'run'), 1::bigint, 'the id is found');
select is((select string_agg(run_id::text, ' ') from pawl.list_runs(only_key => 'wanted')), :'r', 'the run is found');
select is((select count(*) from pawl.list_runs(only_status => 'ERROR', max_rows => 20)), 20::bigint, 'and so are the failures');
select * from finish();
