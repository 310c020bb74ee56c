-- SPDX-License-Identifier: Apache-2.0
-- An empty claim of a worker that is bound to a tenant reads as many buffers with 50,000 runs of another tenant as with 1,000: in one
-- queue, in many, ready or suspect, and whatever the planner's statistics say. So do a list of queues and metrics of a reader.
select plan(10);
select 'nq_' || current_database() as quiet \gset
create role :"quiet" login;
select pawl.grant_role(:'quiet', r, 'quiet') from unnest(array['worker', 'reader']) r \g /dev/null
select pawl.create_workflow('noisy.w' || n) from generate_series(1, 30) n \g /dev/null
create function t.buffers(call text) returns bigint language plpgsql as $$
declare
    v_plan json;
    v_least bigint;
begin
    for v_n in 1..7 loop
        execute format('explain (analyze, buffers, format json) %s', call) into v_plan;
        v_least := least(v_least, (v_plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v_plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint);
    end loop;
    return v_least;
end $$;
create function t.claim_buffers(session bigint) returns bigint language sql as $$ select t.buffers(format('select * from pawl.claim(%s, 10, quiet => true)', session)) $$;
-- What is counted is the look for work, not housekeeping.
create function t.no_housekeeping() returns void language sql as $$ select setval('pawl_data.housekeeping_clock', pawl._micros(pawl.now()) + 9000000) $$;
grant usage on schema t to :"quiet";
set session authorization :"quiet";
select r.session as one from pawl.register('one', '{noisy.w1}') r \gset
select r.session as all from pawl.register('all', '{noisy.*}') r \gset
reset session authorization;
select count(*) from generate_series(1, 1000) n, lateral pawl.trigger('noisy.w' || 1 + n % 30, tenant => 'noisy') \g /dev/null
select count(*) from pawl.trigger_many('noisy.w1', array_fill('{}'::json, array[1000]), tenant => 'noisy') \g /dev/null
update pawl_data.task set place = 's' where ctid in (select ctid from pawl_data.task order by run_id limit 200);
analyze pawl_data.task;
select t.no_housekeeping() \g /dev/null
set session authorization :"quiet";
select t.claim_buffers(:one) as one_before, t.claim_buffers(:all) as all_before, t.buffers('select * from pawl.list_queues()') as queues_before,
       t.buffers('select * from pawl.metrics()') as metrics_before \gset
reset session authorization;
select count(*) from generate_series(1, 30) n, lateral pawl.trigger_many('noisy.w' || n, array_fill('{}'::json, array[1000]), tenant => 'noisy') \g /dev/null
select count(*) from generate_series(1, 3) n, lateral pawl.trigger_many('noisy.w' || n, array_fill('{}'::json, array[10000]), tenant => 'noisy') \g /dev/null
select cmp_ok((select count(*) from pawl_data.task), '>', 50000::bigint, 'another tenant has more than 50,000 runs');
select t.no_housekeeping() \g /dev/null
set session authorization :"quiet";
select cmp_ok(t.claim_buffers(:one), '<=', ceil(:one_before * 1.2)::bigint, 'a worker of one queue: as many buffers as before');
select cmp_ok(t.claim_buffers(:all), '<=', ceil(:all_before * 1.2)::bigint, 'a worker of thirty queues');
reset session authorization;
-- Statistics by which every task is of the other tenant, and a tenth of them suspect.
update pawl_data.task set place = 's' where ctid in (select ctid from pawl_data.task order by run_id limit 5000);
vacuum analyze pawl_data.task;
discard plans;
select t.no_housekeeping() \g /dev/null
set session authorization :"quiet";
select cmp_ok(t.claim_buffers(:one), '<=', ceil(:one_before * 1.2)::bigint, 'with other statistics and 5,000 suspect runs');
select cmp_ok(t.claim_buffers(:all), '<=', ceil(:all_before * 1.2)::bigint, 'in thirty queues, too');
-- Few buffers for each queue, so that one more level of the index shows: a list of queues looks twice into each, metrics look once.
select cmp_ok(t.buffers('select * from pawl.list_queues()'), '<=', :queues_before + 6 * 30::bigint, 'a list of queues');
select cmp_ok(t.buffers('select * from pawl.metrics()'), '<=', :metrics_before + 3 * 30::bigint, 'metrics');
reset session authorization;
-- It finds its own among them, although a claim looks into a hundred queues at most and starts at any of them.
select pawl.create_workflow('noisy.w' || n) from generate_series(31, 160) n \g /dev/null
select count(*) from generate_series(31, 160) n, lateral pawl.trigger('noisy.w' || n, tenant => 'noisy') \g /dev/null
select run_id as own from pawl.trigger('noisy.w30', tenant => 'quiet') \gset
create function t.claims_that_find(session bigint, run uuid, role name) returns int language plpgsql as $$
declare
    v_found int := 0;
begin
    for v_n in 1..20 loop
        execute format('set session authorization %I', role);
        v_found := v_found + (select count(*) from pawl.claim(session, 1) c where c.run_id = run);
        reset session authorization;
        update pawl_data.task set place = 'r', session_id = null where run_id = run;
    end loop;
    return v_found;
end $$;
select is(t.claims_that_find(:all, :'own', :'quiet'), 20, 'a run of its own is found at once, each time');
update pawl_data.task set place = 's', session_id = null where run_id = :'own';
set session authorization :"quiet";
select is((select array_agg(run_id) from pawl.claim(:all, 1, quiet => true)), array[:'own']::uuid[], 'a suspect one, too');
reset session authorization;
select is((select pg_get_expr(i.indpred, i.indrelid) from pg_index i where i.indexrelid = 'pawl_data.task_tenant_idx'::regclass) like '%tenant <> ''''%', true, 'a run without a tenant is in no index for this');
drop owned by :"quiet";
drop role :"quiet";
select * from finish();
