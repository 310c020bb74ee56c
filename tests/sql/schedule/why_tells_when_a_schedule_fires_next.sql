-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
select pawl.test_clock_set('2026-10-24 21:00+00') \g /dev/null
select pawl.create_schedule('s', 'w', cron => '30 2 * * *', zone => 'Europe/Berlin', ends_at => '2026-10-26 00:00+00') \g /dev/null
select is(pawl.why_schedule('s'), 'Fires next at 2026-10-25 02:30 Europe/Berlin (00:30 UTC), in 4 h; that wall time exists twice, and this is the first.', 'a doubled hour');
select pawl.create_schedule('spring', 'w', cron => '30 2 * * *', zone => 'Europe/Berlin', starts_at => '2027-03-27 12:00+00') \g /dev/null
select is(pawl.why_schedule('spring'), 'Fires next at 2027-03-28 03:30 Europe/Berlin (01:30 UTC), in 154 days; its wall time does not exist on that day, so it is moved.', 'a missing hour');
select pawl.create_schedule('far', 'w', cron => '0 6 * * *', zone => 'Asia/Tokyo') \g /dev/null
select is(pawl.why_schedule('far'), 'Fires next at 2026-10-26 06:00 Asia/Tokyo (2026-10-25 21:00 UTC), in 24 h.', 'another day in UTC');
select pawl.test_clock_set('2026-10-25 00:30:01+00') \g /dev/null
call pawl.tick(true);
select is(pawl.why_schedule('s'), 'Fires no more: its last time was 2026-10-25 02:30 Europe/Berlin (00:30 UTC).', 'after its end');
select pawl.create_schedule('m', 'w', every => '1 min') \g /dev/null
select pawl.test_clock_set('2026-10-25 00:31:02+00') \g /dev/null
call pawl.tick(true);
select pawl.test_clock_set('2026-10-25 00:32:02+00') \g /dev/null
call pawl.tick(true);
select is(pawl.why_schedule('m'), format('Fires next at 2026-10-25 00:33:01 UTC, in 59 s. Skipped 2026-10-25 00:32:01 UTC: run %s had not ended (overlap is skip).', (select last_run from pawl.list_schedules('m'))), 'a time that was skipped');
select pawl.create_schedule('q', 'w', every => '1 min', overlap => 'queue') \g /dev/null
do $$ begin for i in 1..2 loop perform pawl.test_clock_advance('1 min'); call pawl.tick(true); end loop; end $$;
select is(pawl.why_schedule('q'), format('The time 2026-10-25 00:34:02 UTC waits until run %s has ended (overlap is queue).', (select last_run from pawl.list_schedules('q'))), 'a time that waits');
select pawl.create_schedule('n', 'w', cron => '*/10 * * * *', catch_up => 'none') \g /dev/null
select pawl.test_clock_set('2026-10-25 01:05:00+00') \g /dev/null
call pawl.tick(true);
select is(pawl.why_schedule('n'), 'Fires next at 2026-10-25 01:10 UTC, in 5 min. Missed 3 times from 2026-10-25 00:40 UTC to 2026-10-25 01:00 UTC: housekeeping was late (catch_up is none, catch_up_within 1 day).', 'times that were missed');
select * from finish();
