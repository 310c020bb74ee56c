-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-03-27 12:00+00') \g /dev/null
select pawl.create_workflow('backup', priority => 7) \g /dev/null
select is(pawl.create_schedule('nightly', 'backup', cron => '30 2 * * *', zone => 'Europe/Berlin', input => ' { "disk" : "a", "n":1e2 } ', metadata => '{"team": "x"}', tenant => 'blue', limit_key => 'disk-a'), 'created', 'it is created');
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 0::bigint, 'nothing is due yet');
select is((select next_at from pawl.list_schedules()), '2026-03-28 01:30+00', 'its next time is in the night');
select pawl.test_clock_set('2026-03-28 01:29:59+00') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 0::bigint, 'not a second earlier');
select pawl.test_clock_set('2026-03-28 01:30:00.2+00') \g /dev/null
call pawl.tick(true);
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 1::bigint, 'one run, however often housekeeping comes');
select is((select input::text from pawl_data.task), '{ "disk" : "a", "n":1e2 , "scheduled": {"by" : "nightly", "at" : "2026-03-28T01:30:00Z", "local" : "2026-03-28T02:30:00", "zone" : "Europe/Berlin"}}', 'its input is that of the schedule, byte by byte, and the time');
select is((select metadata -> 'scheduled' ->> 'by' from pawl_data.task), 'nightly', 'so are its metadata');
select is((select row(tenant, priority, key, limit_key)::text from pawl_data.task), '(blue,7,schedule/nightly/1774661400,disk-a)', 'and tenant, priority, key and limit key');
select pawl.kill(array(select run_id from pawl_data.task)) \g /dev/null
select pawl.test_clock_set('2026-03-29 01:30:01+00') \g /dev/null
call pawl.tick();
select is((select input -> 'scheduled' ->> 'local' from pawl_data.task), '2026-03-29T03:30:00', 'the night with a gap has one, an hour later');
select is((select row(fired, skipped, missed, last_at at time zone 'UTC', next_at at time zone 'UTC')::text from pawl.list_schedules()), '(2,0,0,"2026-03-29 01:30:00","2026-03-30 00:30:00")', 'the list shows what it did');
-- Once, at an interval, from and until.
select pawl.create_schedule('once', 'backup', at => pawl.now() + interval '1 min') \g /dev/null
select pawl.create_schedule('often', 'backup', every => '10 s', starts_at => pawl.now() + interval '30 s', ends_at => pawl.now() + interval '1 min', overlap => 'allow') \g /dev/null
do $$ begin for i in 1..20 loop perform pawl.test_clock_advance('5 s'); call pawl.tick(true); end loop; end $$;
select is((select string_agg(schedule || ' ' || fired, ', ' order by schedule) from pawl.list_schedules()), 'nightly 2, often 3, once 1', 'once is fired once, the interval within its bounds');
select is((select count(*) from pawl.list_schedules() where next_at is null), 2::bigint, 'and both have no further time');
select is(pawl.create_schedule('gone', 'backup', at => pawl.now() - interval '20 s'), 'created', 'a time that has just passed');
call pawl.tick(true);
select is((select fired from pawl.list_schedules('gone')), 1::bigint, 'is fired at once');
-- A flow.
select t.flow('steps', '[["one"], ["two", "one"]]') \g /dev/null
select pawl.create_schedule('flowing', 'steps', every => '1 min') \g /dev/null
select pawl.test_clock_advance('1 min') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl.list_runs('steps')), 1::bigint, 'a run of a flow is triggered');
-- Many at once: some in each transaction, all in a few ticks.
select count(pawl.create_schedule('many.' || n, 'backup', every => '1 h', overlap => 'allow')) from generate_series(1, 130) n \g /dev/null
select pawl.test_clock_advance('1 h') \g /dev/null
do $$ begin for i in 1..200 loop call pawl.tick(true); exit when not exists (select from pawl_data.schedule where fire_at <= pawl.now()); end loop; end $$;
select is((select sum(fired) from pawl.list_schedules('many.*', max_rows => 200)), 130::numeric, 'all of many are fired');
select is((select count(*) from pawl_data.task t where t.key like 'schedule/many.%'), 130::bigint, 'once each');
-- A function does it, too.
select pawl.test_clock_advance('1 h') \g /dev/null
-- At least one in each call, however slow the machine is.
do $$ begin for i in 1..200 loop perform pawl.housekeep(); exit when not exists (select from pawl_data.schedule where fire_at <= pawl.now()); end loop; end $$;
select is((select sum(fired) from pawl.list_schedules('many.*', max_rows => 200)), 260::numeric, 'and by housekeep()');
select * from finish();
