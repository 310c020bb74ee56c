-- SPDX-License-Identifier: Apache-2.0
-- Whatever makes room in a lane notifies a worker that rests. And whatever a notification was not sent for, rest() and pass_on() report.
select plan(23);
select t.ear() \g /dev/null
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
create function pg_temp.ready(session bigint) returns boolean language sql as $$ select r.ready from pawl.rest(session) r $$;
-- A claim may leave a delta for the next one; nothing to claim is left, and so no worker looks.
create function pg_temp.idle(session bigint) returns boolean language plpgsql as $$
begin
    for n in 1..5 loop
        exit when not pg_temp.ready(session);
        perform from pawl.claim(session, 10);
    end loop;
    return not pg_temp.ready(session);
end
$$;
select pawl.trigger('test.flow', limit_key => 'a') from generate_series(1, 4) \g /dev/null
select is(pg_temp.ready(:s), true, 'tasks have come');
select run_id as r, fence as f from pawl.claim(:s, 10) \gset
select t.rester() as idle \gset
select ok(pg_temp.idle(:idle), 'the lane is full: nothing is to be claimed');
select pawl.trigger('test.flow', limit_key => 'a') \g /dev/null
select t.rung('select 1::text') \g /dev/null
select ok(pg_temp.idle(:idle), 'nor when another one has come');
-- The end of a claim.
select is(t.rung(format($$select answer from pawl.complete(%s, %L, %s)$$, :s, :'r', :f)), 'pawl_' || :idle, 'an end notifies the worker that rests');
select is(pg_temp.ready(:idle), true, 'and there is something to claim');
select is(t.rung(format($$select pawl.pass_on(%s)::text$$, :s)), 'pawl_' || :idle, 'which a worker passes on');
select run_id as r, fence as f from pawl.claim(:s, 10) \gset
select ok(pg_temp.idle(:idle), 'full again');
select is(t.rung(format($$select pawl.pass_on(%s)::text$$, :s)), null, 'nothing is passed on');
select is(t.rung(format($$select answer from pawl.fail(%s, %L, %s, '{}')$$, :s, :'r', :f)), 'pawl_' || :idle, 'a failure that is repeated later does the same');
select run_id as r, fence as f from pawl.claim(:s, 10) \gset
select pg_temp.idle(:idle) \g /dev/null
select is(t.rung(format($$select answer from pawl.kill(array[%L::uuid])$$, :'r')), 'pawl_' || :idle, 'a kill as well');
select run_id as r, fence as f from pawl.claim(:s, 10) \gset
select pg_temp.idle(:idle) \g /dev/null
-- A limit that is raised.
select is(t.rung($$select pawl.alter_workflow('test.flow', '{"key_limit": 2}')::text$$), 'pawl_' || :idle, 'a limit that is raised, too');
select is(pg_temp.ready(:idle), true, 'the lane is open');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'for one');
select ok(pg_temp.idle(:idle), 'and full');
-- A key that is resumed.
select pawl.pause_lane('test.flow', 'a') \g /dev/null
select pawl.trigger('test.flow', limit_key => 'a') \g /dev/null
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' limit 1) h, lateral pawl.complete(:s, run_id, fence) \g /dev/null
select ok(pg_temp.idle(:idle), 'nor is anything to be claimed of a paused key');
select t.rung('select 1::text') \g /dev/null
select is(t.rung($$select pawl.resume_lane('test.flow', 'a')$$), 'pawl_' || :idle, 'a key that is resumed notifies the worker');
select count(*) from pawl.claim(:s, 10) \g /dev/null
select pg_temp.idle(:idle) \g /dev/null
-- A trigger may commit before this does, and its worker find the lane full: so whoever makes room notifies a worker, whatever waits now.
select is(t.rung($$select pawl.set_lane('test.flow', 'c', 5)$$), 'pawl_' || :idle, 'a limit that is set notifies the worker although nothing waits');
select pawl.trigger('test.flow', limit_key => 'd') \g /dev/null
select run_id as r from pawl.claim(:s, 10) \gset
select pg_temp.idle(:idle) \g /dev/null
select t.rung('select 1::text') \g /dev/null
select is(t.rung(format($$select answer from pawl.kill(array[%L::uuid])$$, :'r')), 'pawl_' || :idle, 'and so does a kill');
select pg_temp.idle(:idle) \g /dev/null
-- Many at once.
select pawl.trigger('test.flow', limit_key => 'b') from generate_series(1, 3) \g /dev/null
select count(*) from pawl.claim(:s, 10) \g /dev/null
select pg_temp.idle(:idle) \g /dev/null
select t.rung('select 1::text') \g /dev/null
select is(t.rung(format($$select count(c.*)::text from (select array_agg(t.run_id) as runs, array_agg(t.fence) as fences, count(*)::int as n
    from pawl_data.task t where t.place = 'h' and t.limit_key = 'b') h, lateral pawl.commit(%s, h.runs, h.fences, array_fill('complete'::text, array[h.n])) c$$, :s)),
    'pawl_' || :idle, 'ends in one call notify as well');
-- Bound workers.
update pawl_data.setting set tenants_bound = true;
update pawl_data.worker set tenant = 'x' where session_id = :idle;
select pawl.claim(:s, 10) \g /dev/null
select pawl.trigger('test.flow', limit_key => 'c') \g /dev/null
select is(pg_temp.ready(:idle), false, 'lanes of others are nothing to a bound worker');
select is(t.rung(format($$select pawl.pass_on(%s)::text$$, :s)), null, 'and not passed on to it');
select pawl.trigger('test.flow', limit_key => 'c', tenant => 'x') \g /dev/null
select t.rung('select 1::text') \g /dev/null
select is(pg_temp.ready(:idle), true, 'those of its tenant are');
select is(t.rung(format($$select pawl.pass_on(%s)::text$$, :s)), 'pawl_' || :idle, 'and are passed on');
select * from finish();
