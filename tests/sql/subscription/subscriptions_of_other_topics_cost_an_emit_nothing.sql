-- SPDX-License-Identifier: Apache-2.0
-- Buffers of an emit: none more without subscriptions; as many with one as with 1,000 of other topics.
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
create function t.buffers(call text) returns bigint language plpgsql as $$
declare
    v_plan json;
begin
    execute 'explain (analyze, buffers, format json) ' || call into v_plan;
    return (v_plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v_plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
end $$;
-- The plans of the functions are made by the first calls.
create function t.usual() returns bigint language sql as $$
    select percentile_disc(0.5) within group (order by t.buffers($q$select pawl.emit('quiet', '{"n": 1}', 'k')$q$)) from generate_series(1, 15)
$$;
select t.usual() \g /dev/null
select t.usual() as bare \gset
select pawl.create_subscription('s1', 'topic1', 'w') \g /dev/null
select t.usual() \g /dev/null
select t.usual() as one \gset
select count(pawl.create_subscription('s' || n, 'topic' || n, 'w')) from generate_series(2, 1000) n \g /dev/null
select t.usual() \g /dev/null
select t.usual() as many \gset
select diag(format('buffers of an emit: %s without subscriptions, %s with one, %s with 1,000 of other topics', :bare, :one, :many));
select cmp_ok(:one::bigint, '<=', :bare::bigint + 3, 'a subscription of another topic costs one look');
select cmp_ok(:many::numeric, '<=', :one::numeric * 1.2 + 1, '1,000 cost as much');
select is((select count(*) from pawl_data.subscription_event), 0::bigint, 'and store nothing');
select * from finish();
