-- SPDX-License-Identifier: Apache-2.0
-- An idle worker is notified when the rate of a lane allows a start, and when a limit that workflows share has room; and bound ones only of
-- their tenant.
select plan(15);
select t.ear() \g /dev/null
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow'), pawl.create_workflow('test.other') \g /dev/null
select pawl.alter_workflow('test.flow', '{"key_rate": "1/min"}') \g /dev/null
select t.session(lease => '1 day') as s \gset
create function pg_temp.idle(session bigint) returns boolean language plpgsql as $$
begin
    for n in 1..5 loop
        exit when not (select r.ready from pawl.rest(session) r);
        perform from pawl.claim(session, 10);
    end loop;
    return not (select r.ready from pawl.rest(session) r);
end
$$;
select pawl.trigger('test.flow', limit_key => 'a') from generate_series(1, 4) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'one starts');
select t.rester(lease => '1 day') as idle \gset
select ok(pg_temp.idle(:idle), 'no other may');
select t.rung('select 1::text') \g /dev/null
select t.later('59 s') \g /dev/null
select is(t.rung('select pawl.housekeep()::text'), null, 'nor before it is time');
select pawl.test_clock_advance('1 s') \g /dev/null
select is((select tick_due from pawl.rest(:idle)), true, 'then housekeeping has something to do');
select is(t.rung('select pawl.housekeep()::text'), 'pawl_' || :idle, 'and notifies the worker that rests');
select is((select state from pawl_data.lane), 'r', 'the lane is in the rotation');
select is((select count(*) from pawl.claim(:idle, 10)), 1::bigint, 'which claims one');
-- A shared limit.
select pawl.alter_workflow('test.flow', '{"key_rate": null, "limit": 1, "limit_name": "x"}'), pawl.alter_workflow('test.other', '{"limit_name": "x"}') \g /dev/null
select pawl.trigger('test.other') \g /dev/null
select count(*) from (select session_id, run_id, fence from pawl_data.task where place = 'h' order by run_id limit 1) h, lateral pawl.complete(h.session_id, run_id, fence) \g /dev/null
select ok(pg_temp.idle(:idle), 'a limit is reached');
select t.rung('select 1::text') \g /dev/null
select is(t.rung((select format($$select answer from pawl.complete(%s, %L, %s)$$, session_id, run_id, fence) from pawl_data.task where place = 'h')), 'pawl_' || :idle, 'an end makes room in another workflow, too');
select isnt((select ready from pawl.rest(:idle)), false, 'there is something to claim');
-- Bound to a tenant.
select pawl.alter_workflow('test.flow', '{"limit_name": null, "key_rate": "1/min"}') \g /dev/null
select t.work(:s) \g /dev/null
select pawl.kill(array_agg(run_id)) from pawl_data.task \g /dev/null
select pawl.trigger('test.flow', limit_key => 'a', tenant => 'y') from generate_series(1, 2) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'another tenant');
select pawl.test_clock_advance('60 s') \g /dev/null
update pawl_data.setting set tenants_bound = true;
update pawl_data.worker set tenant = 'x' where session_id = :idle;
select is((select count(*) from pawl.claim(:idle, 10)), 0::bigint, 'a bound worker claims no runs of others');
select is((select ready from pawl.rest(:idle)), false, 'and their lanes are nothing to it');
select is(pawl._open_lanes(pawl.now(), 10, 'x'), 0, 'nor open their lanes');
select is(pawl._open_lanes(pawl.now(), 10, 'y'), 1, 'which their own worker does');
select * from finish();
