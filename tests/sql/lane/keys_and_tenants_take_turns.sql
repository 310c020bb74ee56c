-- SPDX-License-Identifier: Apache-2.0
select plan(24);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"fair": true}') \g /dev/null
select is((select fair from pawl.list_workflows('test.flow')), true, 'a workflow is fair');
select t.session() as s \gset
create table got (claim int, tenant text, key text);
-- A claim, each run of which ends at once.
create function turn(session bigint, most int, claim int) returns bigint language plpgsql as $$
declare
    v_n bigint := 0;
    v record;
begin
    for v in select c.run_id, c.fence, c.tenant, t.limit_key from pawl.claim(session, most) c join pawl_data.task t using (run_id) loop
        insert into got values (claim, v.tenant, v.limit_key);
        perform pawl.complete(session, v.run_id, v.fence);
        v_n := v_n + 1;
    end loop;
    return v_n;
end
$$;
create function trigger_for(tenants text[], n int) returns bigint language sql as $$
    select count(*) from unnest(tenants) t, lateral pawl.trigger_many('test.flow', array_fill('{}'::json, array[n]), tenant => t)
$$;
-- Loaded tenant by tenant: without turns, the first ones would get everything.
select trigger_for(array['heavy'], 400) \g /dev/null
select trigger_for(array(select 't' || i from generate_series(1, 19) i), 40) \g /dev/null
select sum(turn(:s, 16, i)) as n from generate_series(1, 25) i \gset
select is(:n, 400, 'every claim is full');
select is((select count(distinct tenant) from got), 20::bigint, 'each tenant is served');
select ok((select max(n) - min(n) <= 2 from (select count(*) as n from got group by tenant) c), 'and gets its share, within two quanta: ' || (select string_agg(n::text, ' ') from (select count(*) as n from got group by tenant order by 1) c));
select is(t.lane_faults(), 'none', 'lanes fit');
-- Without a limit, ends leave no deltas: nothing was shut.
select is((select count(*) from pawl_data.lane_delta where kind = 'f'), 0::bigint, 'ends of runs without a limit leave no deltas');
-- A newcomer, while the others trigger, too.
truncate got;
select trigger_for(array(select 't' || i from generate_series(1, 19) i), 2) \g /dev/null
select is((select string_agg(distinct kind::text, ' ') from pawl_data.lane_delta), 'b', 'tasks that come to a lane in the rotation');
select trigger_for(array['new'], 3) \g /dev/null
select sum(turn(:s, 2, i)) from generate_series(1, 3) i \g /dev/null
select ok((select min(claim) <= 3 from got where tenant = 'new'), 'a newcomer is served within three claims');
select ok((select count(*) >= 2 from got where tenant <> 'new'), 'and keeps no other waiting');
-- Weights.
truncate got;
select is(pawl.set_lane('test.flow', null, weight => 3, tenant => 't1'), 'ok', 'a tenant gets a weight');
select is((select weight from pawl.list_lanes('test.flow', only_tenant => 't1')), 3, 'the list shows it');
select trigger_for(array['t1'], 60) \g /dev/null
select sum(turn(:s, 20, i)) from generate_series(1, 14) i \g /dev/null
select ok((select abs((select count(*) from got where tenant = 't1') - 3 * avg(n)) <= 12 from (select count(*) as n from got where tenant like 't%' and tenant <> 't1' group by tenant) c),
    'it gets three times as much: ' || (select count(*) from got where tenant = 't1') || ' to ' || (select round(avg(n), 1) from (select count(*) as n from got where tenant like 't%' and tenant <> 't1' group by tenant) c));
select t.work(:s) \g /dev/null
select is((select count(*) from pawl_data.task), 0::bigint, 'all of them end');
-- One lane alone gives more than its share, a claim of many takes all there is.
select trigger_for(array['a'], 50) \g /dev/null
select trigger_for(array['b'], 3) \g /dev/null
select is((select count(*) from pawl.claim(:s, 50)), 50::bigint, 'a claim is full even if most of it comes from one tenant');
select is((select count(distinct run_id) from pawl_data.task where place = 'h'), 50::bigint, 'with different runs');
select is((select count(*) from pawl_data.task t where place = 'h' and tenant = 'b'), 3::bigint, 'the other one is in it');
-- A turn that was cut short.
select pawl.kill(array_agg(run_id)) from pawl_data.task \g /dev/null
truncate got;
select trigger_for(array['c', 'd', 'e'], 60) \g /dev/null
select sum(turn(:s, 10, i)) from generate_series(1, 12) i \g /dev/null
select ok((select max(n) - min(n) <= 8 from (select count(*) as n from got group by tenant) c), 'turns that are cut short go on: ' || (select string_agg(n::text, ' ') from (select count(*) as n from got group by tenant) c));
-- Newcomers, to claims of one and of many.
truncate got;
select trigger_for(array['first'], 1) \g /dev/null
select sum(turn(:s, 1, i)) from generate_series(1, 40) i \g /dev/null
select ok((select count(*) = 1 from got where tenant = 'first'), 'claims of one find a newcomer');
truncate got;
select trigger_for(array['late'], 80) \g /dev/null
select trigger_for(array['c', 'd', 'e'], 60) \g /dev/null
select sum(turn(:s, 2, i)) from generate_series(1, 30) i \g /dev/null
select ok((select count(*) between 5 and 22 from got where tenant = 'late'), 'what others have got before is not made up for: ' || (select count(*) from got where tenant = 'late'));
-- Keys of one tenant.
select throws_ok('select pawl.set_lane(''test.flow'', ''x'', weight => 0)', 'PW003', 'weight must be between 1 and 100', 'no weight of 0');
select run_id as r from pawl.trigger('test.flow', limit_key => 'mine') \gset
select alike(pawl.why(:'r'), 'Queued for 0 s: nothing is ahead of it with limit key "mine" in queue test.flow; its limit key takes turns with 4 others. %', 'why names the turns');
select t.flow('a.flow', '[["a"]]') \g /dev/null
select throws_ok('select pawl.alter_workflow(''a.flow'', ''{"fair": true}'')', 'PW003', null, 'a flow is not fair');
select t.work(:s) \g /dev/null
select is(t.lane_faults(), 'none', 'lanes fit afterwards');
select ok((select count(*) < 60 from pawl_data.lane_delta), 'few deltas are left');
select * from finish();
