-- SPDX-License-Identifier: Apache-2.0
-- While a claim looks for lanes, another claim puts the only lane into the rotation and removes its deltas.
select plan(4);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"fair": true}') \g /dev/null
select t.session() as a \gset
select t.session() as b \gset
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[9]), tenant => 'a') \gset
-- The claim of b runs that of a, once, after its look at the rotation and before its look at deltas.
create table another (session bigint);
insert into another values (:a);
grant all on another to pawl_owner;
alter function pawl._lanes_with_deltas(int, "char", text, int, boolean, timestamptz) rename to _lanes_with_deltas_then;
create function pawl._lanes_with_deltas(p_queue int, p_kind "char", p_tenant text, p_max int, p_turning boolean, p_now timestamptz, out lanes uuid[], out full_lanes uuid[])
language plpgsql as $$
declare
    v_session bigint;
begin
    delete from public.another returning session into v_session;
    if found then
        perform pawl.claim(v_session, 4);
    end if;
    select d.* into lanes, full_lanes from pawl._lanes_with_deltas_then(p_queue, p_kind, p_tenant, p_max, p_turning, p_now) d;
end
$$;
select is((select count(*) from pawl.claim(:b, 100)), 5::bigint, 'the claim takes what the other has left');
select is((select count(*) from pawl_data.task where place = 'h' and session_id = :a), 4::bigint, 'the other has its tasks');
select is((select count(*) from public.another), 0::bigint, 'it was executed');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
