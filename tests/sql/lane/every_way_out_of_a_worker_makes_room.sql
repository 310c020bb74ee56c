-- SPDX-License-Identifier: Apache-2.0
-- One run of the key is held and another waits. Whatever ends the first one's claim, a run of the key is claimed next.
select plan(26);
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
select t.session(handles => '{none}') as k \gset

-- The next run of the key, which the session holds.
create function pg_temp.hold(s bigint, out run uuid, out fence int) language plpgsql as $$
begin
    perform pawl.trigger('test.flow', limit_key => 'a');
    select c.run_id, c.fence into run, fence from pawl.claim(s, 10) c;
end
$$;
-- Another one comes; what happens to the first; whether a run is claimed now, and not before.
create function pg_temp.room(s bigint, k bigint, statement text) returns text language plpgsql as $$
declare
    v_held record;
    v_claimed int;
    v_answer text;
begin
    select h.* into v_held from pg_temp.hold(s) h;
    perform pawl.trigger('test.flow', limit_key => 'a');
    if exists (select from pawl.claim(s, 10)) then
        return 'two are held';
    end if;
    execute replace(replace(replace(statement, '{run}', quote_literal(v_held.run)), '{fence}', v_held.fence::text), '{session}', s::text) into v_answer;
    -- The other one, or the first again.
    select count(*) into v_claimed from pawl.claim(s, 10) c;
    perform pawl.complete(s, t.run_id, t.fence) from pawl_data.task t where t.place = 'h';
    perform pawl.kill(array(select t.run_id from pawl_data.task t));
    perform pawl.claim(s, 10);
    return concat_ws(', ', v_answer, v_claimed || ' claimed', t.lane_faults());
end
$$;
create function pg_temp.both(s bigint, k bigint, statement text, answer text, what text) returns setof text language plpgsql as $$
begin
    return next is(pg_temp.room(s, k, statement), answer || ', 1 claimed, none', what || ': the next run of the key is claimed');
    return next is((select count(*) from pawl_data.lane_hold), 0::bigint, what || ': nothing is held');
end
$$;
select pg_temp.both(:s, :k, 'select answer from pawl.complete({session}, {run}, {fence})', 'ok', 'a completion');
select pg_temp.both(:s, :k, 'select answer from pawl.fail({session}, {run}, {fence}, ''{}'')', 'ok', 'a failure that is repeated later');
select pg_temp.both(:s, :k, 'select answer from pawl.fail({session}, {run}, {fence}, ''{}'', final => true)', 'ok', 'a final failure');
select pg_temp.both(:s, :k, 'select string_agg(answer, '' '') from pawl.commit({session}, array[{run},{run}]::uuid[], ''{{fence},{fence}}'', ''{sleep,suspend}'', ''{nap#1,null}'', null, null, null, null, array[''{"ms": 100000}'', null])', 'ok ok', 'a sleep');
select pg_temp.both(:s, :k, 'select string_agg(answer, '' '') from pawl.commit({session}, array[{run},{run}]::uuid[], ''{{fence},{fence}}'', ''{event,suspend}'', ''{paid#1,null}'', null, ''{1,null}'', null, null, array[''{"topic": "paid"}'', null])', 'ok ok', 'a wait for an event');
select pg_temp.both(:s, :k, 'select t.answer({session}, {run}, {fence}, ''drift'', ''a#1'', null, ''{"recorded": "sleep", "asked": "step"}'')', 'ok', 'a drift');
select pg_temp.both(:s, :k, 'select answer from pawl.kill(array[{run}::uuid])', 'ok', 'a kill');
select pg_temp.both(:s, :k, 'select c.answer from pawl.cancel(array[{run}::uuid]) c where t.answer({session}, {run}, {fence}, ''suspend'') = ''cancelled''', 'ok', 'a cancel that the worker learns of');
select pg_temp.both(:s, :k, 'select t.answer({session}, {run}, {fence}, ''release'')', 'ok', 'a release');
select pg_temp.both(:s, :k, 'with b as materialized (select t.answer({session}, {run}, {fence}, ''begin'', ''a#1'', null, ''{"undo": {"handler": "u"}}'') as a)
    select f.answer from b, lateral pawl.fail({session}, {run}, {fence}, to_json(b.a), final => true) f', 'ok', 'a failure that is rolled back');
-- A lost lease, and a worker that leaves.
select t.session(lease => '5 s') as lost \gset
select run as r from pg_temp.hold(:lost) \gset
select is((select count(*) from pawl.trigger('test.flow', limit_key => 'a'), lateral pawl.claim(:s, 10)), 0::bigint, 'full');
select t.later('20 s', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'after a lost lease the next is claimed');
select is(t.lane_faults(), 'none', 'lanes fit');
select pawl.leave(:s) \g /dev/null
select t.session() as s \gset
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'after a leave as well');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'and no more');
select is(t.lane_faults(), 'none', 'lanes fit afterwards');
select * from finish();
