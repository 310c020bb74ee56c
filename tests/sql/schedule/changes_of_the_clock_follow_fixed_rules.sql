-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
create function pg_temp.preview(cron text, zone text, since timestamptz, max_rows int default 3) returns text language sql as $$
    select string_agg(to_char(p.at at time zone 'UTC', 'DD HH24:MI') || ' = ' || to_char(p.local, 'DD HH24:MI') || coalesce(' ' || p.note, ''), ', ' order by p.at)
    from pawl.preview_schedule(cron, zone, since => since, max_rows => max_rows) p
$$;
-- 29 March 2026: the clocks of Berlin go from 02:00 to 03:00. 25 October: from 03:00 to 02:00.
select is(pg_temp.preview('30 2 * * *', 'Europe/Berlin', '2026-03-27 12:00+00'), '28 01:30 = 28 02:30, 29 01:30 = 29 03:30 moved, 30 00:30 = 30 02:30', 'a wall time that the clock jumps over is moved');
select is(timestamp '2026-03-29 02:30' at time zone 'Europe/Berlin', timestamptz '2026-03-29 01:30+00', 'to where PostgreSQL puts it');
select is(pg_temp.preview('30 2 * * *', 'Europe/Berlin', '2026-10-24 12:00+00', 2), '25 00:30 = 25 02:30 first of two, 26 01:30 = 26 02:30', 'one that exists twice counts once, the first time');
select is(timestamp '2026-10-25 02:30' at time zone 'Europe/Berlin', timestamptz '2026-10-25 01:30+00', 'where PostgreSQL takes the second');
select is(pg_temp.preview('10,50 2 * * *', 'Europe/Berlin', '2026-03-28 12:00+00', 3), '29 01:10 = 29 03:10 moved, 29 01:50 = 29 03:50 moved, 30 00:10 = 30 02:10', 'two times in the gap stay two');
select is(pg_temp.preview('30 2,3 * * *', 'Europe/Berlin', '2026-03-28 12:00+00', 2), '29 01:30 = 29 03:30, 30 00:30 = 30 02:30', 'one instant is one time');
-- An open hour counts real hours.
select is(pg_temp.preview('30 * * * *', 'Europe/Berlin', '2026-03-28 23:45+00'), '29 00:30 = 29 01:30, 29 01:30 = 29 03:30, 29 02:30 = 29 04:30', 'an open hour moves nothing');
select is(pg_temp.preview('30 0-5 * * *', 'Europe/Berlin', '2026-10-25 00:00+00'), '25 00:30 = 25 02:30 first of two, 25 01:30 = 25 02:30 second of two, 25 02:30 = 25 03:30', 'and both hours of a doubled one count');
select is(pg_temp.preview('0 */2 * * *', 'Europe/Berlin', '2026-03-29 00:15+00', 2), '29 02:00 = 29 04:00, 29 04:00 = 29 06:00', 'a step is open, too: 02:00 is left out');
-- Half an hour, midnight, and a gap that ends at midnight.
select is(pg_temp.preview('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02 16:00+00', 2), '03 15:45 = 04 02:45 moved, 04 15:15 = 05 02:15', 'a clock may jump by half an hour');
select is(pg_temp.preview('30 0 * * *', 'Africa/Cairo', '2026-04-23 12:00+00', 2), '23 22:30 = 24 01:30 moved, 24 21:30 = 25 00:30', 'or at midnight');
select is(pg_temp.preview('30 23 * * *', 'America/Nuuk', '2026-03-28 12:00+00', 2), '29 01:30 = 29 00:30 moved, 30 00:30 = 29 23:30', 'a moved time may be on the next day');
select is(pg_temp.preview('30 0,23 * * *', 'America/Nuuk', '2026-03-28 12:00+00', 3), '29 01:30 = 29 00:30 moved, 30 00:30 = 29 23:30, 30 01:30 = 30 00:30', 'where it may meet a time of that day: one instant');
-- Days.
select is(pg_temp.preview('0 12 13 * 5', 'UTC', '2026-02-01 00:00+00', 4), '06 12:00 = 06 12:00, 13 12:00 = 13 12:00, 20 12:00 = 20 12:00, 27 12:00 = 27 12:00', 'of two restricted days one is enough');
select is(pg_temp.preview('0 12 */2 * 5', 'UTC', '2026-02-01 00:00+00', 2), '13 12:00 = 13 12:00, 27 12:00 = 27 12:00', 'a star is not a restriction: both');
select is(pg_temp.preview('0 0 L * *', 'UTC', '2028-01-31 12:00+00', 2), '29 00:00 = 29 00:00, 31 00:00 = 31 00:00', 'L is the last day of the month');
select is(pg_temp.preview('0 0 29 2 *', 'UTC', '2096-03-01 00:00+00', 1), '29 00:00 = 29 00:00', 'eight years may lie between two times');
select is((select count(*) from pawl.preview_schedule('@weekly', since => '2026-01-01 00:00+00', max_rows => 5) where extract(dow from local) = 0), 5::bigint, '@weekly');
-- An interval counts seconds, whatever zone a session is in.
select pawl.test_clock_set('2026-10-24 12:00+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
set timezone to 'Europe/Berlin';
select pawl.create_schedule('s', 'w', every => '1 day', starts_at => '2026-10-24 12:00+00') \g /dev/null
select is((select array_agg(extract(epoch from at - '2026-10-24 12:00+00') / 3600 order by at) from pawl.preview_schedule(name => 's', since => '2026-10-24 11:00+00', max_rows => 4)), '{0,24,48,72}'::numeric[], 'a day has 24 hours');
reset timezone;
select * from finish();
