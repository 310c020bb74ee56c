-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-06-01 00:10+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select pawl.create_schedule('s', 'w', cron => '0 * * * *', overlap => 'allow') \g /dev/null
select pawl.test_clock_set('2026-06-01 01:00:10+00') \g /dev/null
call pawl.tick(true);
select run_id as r from pawl_data.task \gset
-- Deleted, and created again with another input: the time has its run.
select is(pawl.delete_schedule('s', 'me'), 'ok', 'it is deleted');
select is((select count(*) from pawl_data.task), 1::bigint, 'its run stays');
select pawl.test_clock_set('2026-06-01 00:50+00') \g /dev/null
select is(pawl.create_schedule('s', 'w', cron => '0 * * * *', overlap => 'allow', input => '{"other": 1}'), 'created', 'it is created again, and its next time is the same');
select pawl.test_clock_set('2026-06-01 01:00:20+00') \g /dev/null
call pawl.tick(true);
select is((select array_agg(run_id) from pawl_data.task), array[:'r'::uuid], 'no second run');
select is((select row(fired, last_run, next_at at time zone 'UTC')::text from pawl.list_schedules()), format('(0,%s,"2026-06-01 02:00:00")', :'r'), 'the schedule moves on, and knows the run');
-- A backfill.
select throws_ok($$select * from pawl.backfill_schedule('s', '2026-06-01 00:00+00', '2026-06-02 00:00+00')$$, 'PW003', null, 'the future cannot be backfilled');
select throws_ok($$select * from pawl.backfill_schedule('s', '-infinity', '2026-06-01 00:00+00')$$, 'PW003', null, 'nor all of the past');
select is((select string_agg(to_char(at at time zone 'UTC', 'DD HH24') || ' ' || created, ', ' order by at) from pawl.backfill_schedule('s', '2026-05-31 22:00+00', '2026-06-01 01:00:20+00')), '31 22 true, 31 23 true, 01 00 true, 01 01 false', 'each time of the stretch has one run');
select is((select count(*) from pawl.backfill_schedule('s', '2026-05-31 22:00+00', '2026-06-01 01:00:20+00') where not created), 4::bigint, 'a second time none');
select is((select count(*) from pawl_data.task), 4::bigint, 'four runs');
select is((select count(*) from pawl.backfill_schedule('s', '2026-01-01 00:00+00', '2026-06-01 00:00+00', max_rows => 5)), 5::bigint, 'as many as asked for');
select is((select max(at) from pawl.backfill_schedule('s', '2026-01-01 00:00+00', '2026-06-01 00:00+00', max_rows => 5)), '2026-01-01 04:00+00', 'the oldest ones');
select is((select next_at from pawl.list_schedules()), '2026-06-01 02:00+00', 'the next time is not moved');
select is((select string_agg(what || ' ' || coalesce(detail ->> 'created', ''), ', ' order by action_no) from pawl.list_actions() where what ~ 'delete|backfill'), 'delete_schedule , backfill_schedule 3, backfill_schedule 0, backfill_schedule 5, backfill_schedule 0', 'actions are listed');
-- The clock is moved backward after a firing: no time comes twice.
select pawl.test_clock_set('2026-06-01 02:00:01+00') \g /dev/null
call pawl.tick(true);
select count(*) as n from pawl_data.task \gset
select pawl.test_clock_set('2026-06-01 01:30+00') \g /dev/null
call pawl.tick(true);
select is(pawl.why_schedule('s'), 'Fires next at 2026-06-01 03:00 UTC, in 90 min. The clock was moved backward: 2026-06-01 02:00 UTC has been fired.', 'why tells of the clock');
select pawl.test_clock_set('2026-06-01 02:00:10+00') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task), :n::bigint, 'the time comes once');
-- More times than a call triggers.
select is((select count(*) from pawl.backfill_schedule('s', '2026-01-01 00:00+00', '2026-06-01 00:00+00', max_rows => 5000)), 1000::bigint, 'a backfill triggers a thousand runs at most');
select * from finish();
