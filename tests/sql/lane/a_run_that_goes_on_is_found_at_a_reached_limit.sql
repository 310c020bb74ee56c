-- SPDX-License-Identifier: Apache-2.0
-- With limit_while run the limit of a workflow may be reached while nothing is executed. Runs that go on are then all that claims look for.
select plan(5);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"limit": 10, "limit_while": "run"}') \g /dev/null
select t.session(lease => '1 day') as s \gset
create function pg_temp.nap(session bigint) returns bigint language sql as $$
    select count(c.answer)
    from (select run_id, fence from pawl_data.task where place = 'h') h,
        lateral pawl.commit(session, array[h.run_id, h.run_id], array[h.fence, h.fence], array['sleep', 'suspend'], array['nap#1', null], seqs => array[0, 0],
            options => array['{"ms": 60000}', null]) c
$$;
-- Ten of one key: more than a claim of one task moves to its lane at once.
select count(*) from generate_series(1, 11) i, lateral pawl.trigger('test.flow', to_json(i)) \gset
select is((select count(*) from pawl.claim(:s, 100)), 10::bigint, 'ten are claimed');
select pg_temp.nap(:s), t.later('60 s', :s) \g /dev/null
create function pg_temp.found(session bigint) returns text language plpgsql as $$
declare
    v_found text := '';
begin
    for n in 1..12 loop
        v_found := v_found || case when (select r.ready from pawl.rest(session) r) then (select count(*)::text from pawl.claim(session, 1)) else '-' end;
    end loop;
    return v_found;
end
$$;
-- The claim of the last removes its hint, or the one after it does.
select matches(pg_temp.found(:s), '^1111111111(--|0-)$', 'a worker that asks finds them all, one by one');
select is(t.lane_faults(), 'none', 'lanes fit');
select count(c.*) from (select run_id, fence from pawl_data.task where place = 'h') h, lateral pawl.complete(:s, h.run_id, h.fence) c \gset
select t.work(:s) \g /dev/null
-- Forty keys in the rotation, each with a run that waits.
select pawl.alter_workflow('test.flow', '{"limit": 1}') \g /dev/null
select count(*) from generate_series(1, 2) n, generate_series(1, 40) k, lateral pawl.trigger('test.flow', to_json(n), limit_key => 'k' || k) \gset
select is((select count(*) from pawl.claim(:s, 1)), 1::bigint, 'one of forty keys');
insert into pawl_data.lane (queue_id, lane, tenant, limit_key, state, turn, turned_at)
select distinct t.queue_id, t.lane, t.tenant, t.limit_key, 'r'::"char", 0, pawl.now() from pawl_data.task t where t.place = 'l'
on conflict on constraint lane_pkey do nothing;
delete from pawl_data.lane_delta;
select pg_temp.nap(:s), t.later('60 s', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 1)), 1::bigint, 'the first claim after its sleep finds it');
select * from finish();
