-- SPDX-License-Identifier: Apache-2.0
-- Thirty schedules of flows that were deleted are due before others: more than one piece of housekeeping takes.
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-06-01 00:10+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select pawl.create_flow('gone') \g /dev/null
select pawl.add_step('gone', 'a') \g /dev/null
select count(pawl.create_schedule('bad.' || n, 'gone', cron => '0 * * * *')) from generate_series(1, 30) n \g /dev/null
select pawl.create_schedule('good', 'w', cron => '0 * * * *') \g /dev/null
select pawl.delete_flow('gone') \g /dev/null
select pawl.test_clock_set('2026-06-01 01:00:05+00') \g /dev/null
update pawl_data.schedule set fire_at = fire_at - interval '1 s' where name like 'bad%';
do $$ begin for i in 1..20 loop call pawl.tick(true); end loop; end $$;
select is((select string_agg(t.input -> 'scheduled' ->> 'by', ' ') from pawl_data.task t), 'good', 'the one that can be fired is');
select is((select count(*) from pawl.list_schedules() where last_error = 'PW002 unknown workflow "gone"'), 30::bigint, 'each other has its error');
select is(pawl.why_schedule('bad.1'), 'Due since 2026-06-01 01:00 UTC, but it failed: PW002 unknown workflow "gone". The next attempt is in 60 s.', 'why tells');
select is((select count(*) from pawl.doctor() where what = 'schedule' and level = 'error' and found like '%unknown workflow "gone"%'), 5::bigint, 'doctor names five');
select is((select count(*) from pawl.doctor() where what = 'chore schedules'), 1::bigint, 'and the piece');
-- Mended.
select pawl.create_workflow('gone') \g /dev/null
select pawl.test_clock_set('2026-06-01 01:00:30+00') \g /dev/null
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 1::bigint, 'they are tried again after a minute, not before');
select pawl.test_clock_set('2026-06-01 01:01:10+00') \g /dev/null
do $$ begin for i in 1..20 loop call pawl.tick(true); end loop; end $$;
select is((select count(*) from pawl_data.task), 31::bigint, 'then the time is fired');
select is((select count(*) from pawl.list_schedules() where last_error is not null), 0::bigint, 'and no error is left');
-- Nobody fires them.
select pawl.test_clock_set('2026-06-01 02:05+00') \g /dev/null
select is((select count(*) from pawl.doctor() where what = 'schedules' and level = 'error'), 1::bigint, 'doctor tells that schedules are late');
select matches(pawl.why_schedule('good'), '^Due since 2026-06-01 02:00 UTC \(5 min ago\), but no session has fired it[.] A keeper is missing', 'and why, what is missing');
select * from finish();
