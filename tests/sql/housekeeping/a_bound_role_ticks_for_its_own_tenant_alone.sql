-- SPDX-License-Identifier: Apache-2.0
-- Where only bound workers are left, each tenant's timers, lost workers, limits and deliveries go on by its own; chores wait for a keeper.
select plan(13);
select pawl.create_workflow('test.flow') \g /dev/null

select t.stop_clock();
select pawl.create_workflow('limited', run_timeout => '20 s') \g /dev/null
select 'a_' || current_database() as a \gset
create role :a login;
select pawl.grant_role(:'a', 'worker', 'a') \g /dev/null
create function pg_temp.ready(tenant text) returns bigint language sql as $$
    select count(*) from pawl_data.task t join pawl_data.queue q using (queue_id) where t.place = 'r' and t.tenant = $1 and q.name = 'test.flow'
$$;
create function pg_temp.as_a() returns void language plpgsql as $$
begin
    perform set_config('role', 'a_' || current_database(), false);
end
$$;
-- Timers.
select count(*) from unnest(array['a', 'b', '']) x, pawl.trigger_many('test.flow', array_fill('{}'::json, array[5]), tenant => x, delay => '10 s') \g /dev/null
-- Lost workers, of both, each with a run.
select run_id as ra from pawl.trigger('test.flow', tenant => 'a', priority => 1) \gset
select run_id as rb from pawl.trigger('test.flow', tenant => 'b', priority => 2) \gset
select pg_temp.as_a() \g /dev/null
select session as sa from pawl.register('a', '{*}', lease => '5 s') \gset
select run_id = :'ra' as own from pawl.claim(:sa, 1) \gset
reset role;
select is(:'own'::boolean, true, 'the worker of a has a run of a');
select session as sb from pawl.register('b', '{*}', lease => '5 s') \gset
select is((select run_id from pawl.claim(:sb, 1)), :'rb'::uuid, 'another worker has one of b');
-- Limits.
select run_id as la from pawl.trigger('limited', tenant => 'a') \gset
select run_id as lb from pawl.trigger('limited', tenant => 'b') \gset
select pawl.pause_workflow('limited') \g /dev/null
update pawl_data.chore set due_at = '-infinity' where due_at < 'infinity';
select last_value as clock from pawl_data.housekeeping_clock \gset
select pawl.test_clock_advance('30 s') \g /dev/null

select pg_temp.as_a() \g /dev/null
call pawl.tick();
reset role;
select is(pg_temp.ready('a'), 6::bigint, 'its timers are ready, and the run of its lost worker');
select is(pg_temp.ready('b') + pg_temp.ready(''), 0::bigint, 'no other timer is');
select is((select session_id from pawl_data.task where run_id = :'rb'), :sb::bigint, 'nor is the run of another worker taken back');
select is(t.state(:'la') || ', ' || t.state(:'lb'), 'ERROR, QUEUED', 'its run has reached its time limit, the other is left');
select is((select count(*) from pawl_data.chore where due_at > '-infinity' and due_at < 'infinity'), 0::bigint, 'no chore is done');
select is((select last_value from pawl_data.housekeeping_clock), 0::bigint, 'and the clock, which is everybody''s, is left alone');

-- Its operator calls tick(), too.
select pawl.grant_role(:'a', 'operator', 'a') \g /dev/null
select throws_ok(format('set local role %I; select pawl.housekeep()', :'a'), 'PW007', null, 'housekeep() is for all tenants');
reset role;

-- A claim of its own, however late housekeeping is.
select pg_temp.as_a() \g /dev/null
select session as sa from pawl.register('a', '{none}', lease => '1 hour') \gset
select count(*) as n, bool_and(tick_due) as due from pawl.heartbeat(:sa) \gset
reset role;
select is(:'due'::boolean, true, 'its heartbeat answers that a tick is due');
select is(pg_temp.ready('b') + pg_temp.ready(''), 0::bigint, 'and does nothing itself');

-- An unbound one.
call pawl.tick();
select is(pg_temp.ready('b') + pg_temp.ready(''), 11::bigint, 'a tick of a role that is not bound does it for all');
select is(t.state(:'lb'), 'ERROR', 'with limits');
drop owned by :a;
drop role :a;
select * from finish();
