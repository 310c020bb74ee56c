-- SPDX-License-Identifier: Apache-2.0
-- Where all workers have a driver that opens a transaction for every statement, nobody can call tick(): then claims and heartbeats help out.
select plan(14);
select pawl.create_workflow('test.flow') \g /dev/null

select t.stop_clock();
select t.session(lease => '1 hour') as s \gset
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[100]), delay => '10 s') \g /dev/null
select pawl.test_clock_set(pawl.now() + interval '11 s') \g /dev/null
create function pg_temp.behind(by interval) returns void language sql as $$
    select setval('pawl_data.housekeeping_clock', pawl._micros(pawl.now() - by))
$$;
create function pg_temp.ready() returns bigint language sql as $$ select count(*) from pawl_data.task where place = 'r' $$;

select pg_temp.behind('-50 ms') \g /dev/null
select is((select tick_due from pawl.heartbeat(:s)), false, 'a tick is not due');
select pg_temp.behind('1900 ms') \g /dev/null
select is((select tick_due from pawl.heartbeat(:s)), true, 'it is due, and the heartbeat says so');
select is(pg_temp.ready(), 0::bigint, 'and leaves it to whoever ticks');
select pg_temp.behind('2100 ms') \g /dev/null
select is((select tick_due from pawl.heartbeat(:s)), true, 'nobody has ticked for two seconds');
select is(pg_temp.ready(), 30::bigint, 'then a heartbeat does some of it');
select is((select tick_due from pawl.heartbeat(:s)), true, 'a tick is due still');
select is(pg_temp.ready(), 30::bigint, 'and the next tenth of a second is somebody else''s');
select pawl.test_clock_set(pawl.now() + interval '200 ms') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 60::bigint, 'a claim does the same, and takes what it made ready');

-- It is held until that transaction ends, and in the way of nobody else.
select pawl.test_clock_set(pawl.now() + interval '200 ms') \g /dev/null
select t.other_holds(format('select run_id::text from pawl.claim(%s, 0)', :s)) \g /dev/null
select is(pg_temp.ready(), 0::bigint, 'another one has thirty in its transaction');
call pawl.tick(true);
select is(pg_temp.ready(), 10::bigint, 'a tick does the rest');
select t.other_done() \g /dev/null
call pawl.tick(true);
select is(pg_temp.ready(), 40::bigint, 'and what the other let go');

-- No chore is done that way, and doctor says so.
select count(*) from pawl.claim(:s, 1000) \g /dev/null
select pawl.test_clock_set(pawl.now() + interval '2 min') \g /dev/null
select count(*) from pawl.heartbeat(:s) \g /dev/null
select is((select count(*) from pawl_data.chore where due_at > pawl.now() - interval '60 s' and chore in ('workers', 'rollup')), 0::bigint, 'no chore is done that way');
select is((select level from pawl.doctor() where what = 'keeper'), 'error', 'which doctor reports');

-- A clock of housekeeping that is far ahead: the clock was set back.
select pg_temp.behind('-1 hour') \g /dev/null
select is((select tick_due from pawl.heartbeat(:s)), true, 'after a clock that was ahead a tick is due at once');
select * from finish();
