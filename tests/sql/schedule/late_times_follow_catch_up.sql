-- SPDX-License-Identifier: Apache-2.0
-- No worker was alive for five hours; then for three days.
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-06-01 00:10+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select pawl.create_schedule(x, 'w', cron => '0 * * * *', catch_up => x, overlap => 'allow', catch_up_within => '4 hours') from unnest(array['none', 'last', 'all']) x \g /dev/null
create function pg_temp.fired(name text) returns text language sql as $$
    select string_agg(to_char((t.input -> 'scheduled' ->> 'local')::timestamp, 'HH24:MI'), ' ' order by t.input -> 'scheduled' ->> 'at') from pawl_data.task t where t.input -> 'scheduled' ->> 'by' = name
$$;
create function pg_temp.skips(name text) returns text language sql as $$
    select string_agg(format('%s %s-%s %s', times, to_char(first_at at time zone 'UTC', 'DD HH24'), to_char(last_at at time zone 'UTC', 'DD HH24'), reason), ', ' order by first_at) from pawl.list_skips(name)
$$;
select pawl.test_clock_set('2026-06-01 05:30+00') \g /dev/null
do $$ begin for i in 1..4 loop call pawl.tick(true); end loop; end $$;
select is(pg_temp.fired('none'), null, 'none: nothing is made up for');
select is(pg_temp.skips('none'), '5 01 01-01 05 missed', 'and all are listed, in one row');
select is(pg_temp.fired('last'), '05:00', 'last: the newest');
select is(pg_temp.skips('last'), '4 01 01-01 04 missed', 'the older ones are listed');
select is(pg_temp.fired('all'), '02:00 03:00 04:00 05:00', 'all: all that are not older than catch_up_within');
select is(pg_temp.skips('all'), '1 01 01-01 01 missed', 'which one is');
select is((select string_agg(format('%s %s %s %s', schedule, fired, skipped, missed), ', ' order by schedule) from pawl.list_schedules()), 'all 4 0 1, last 1 0 4, none 0 0 5', 'counted');
-- In time again: a new row begins after a time that was fired.
delete from pawl_data.task;
select pawl.test_clock_set('2026-06-01 06:00:30+00') \g /dev/null
call pawl.tick(true);
select is(pg_temp.fired('none') || ' ' || pg_temp.fired('last') || ' ' || pg_temp.fired('all'), '06:00 06:00 06:00', 'half a minute is not late');
delete from pawl_data.task;
select pawl.test_clock_set('2026-06-04 06:30+00') \g /dev/null
do $$ begin for i in 1..4 loop call pawl.tick(true); end loop; end $$;
select is(pg_temp.fired('none'), null, 'three days: nothing');
select is(pg_temp.skips('none'), '5 01 01-01 05 missed, 72 01 07-04 06 missed', 'a second row');
select is(pg_temp.fired('all'), '03:00 04:00 05:00 06:00', 'or the last four hours');
-- Nominal times are fired, or listed: none is lost.
select is((select string_agg(format('%s %s', s.schedule, s.fired + s.skipped + s.missed), ', ' order by s.schedule) from pawl.list_schedules() s), 'all 78, last 78, none 78', 'each time is in one count');
select is((select string_agg((select sum(k.times)::text from pawl.list_skips(s.schedule) k), ' ' order by s.schedule) from pawl.list_schedules() s), (select string_agg((s.skipped + s.missed)::text, ' ' order by s.schedule) from pawl.list_schedules() s), 'and each that was not fired in a row');
-- More times than one round looks at.
delete from pawl_data.schedule;
select pawl.create_schedule('s' || x, 'w', every => '1 s', catch_up => x) from unnest(array['none', 'last']) x \g /dev/null
select pawl.test_clock_advance('2 h') \g /dev/null
do $$ begin for i in 1..12 loop call pawl.tick(true); end loop; end $$;
select is((select row(fired, skipped, missed)::text from pawl.list_schedules('slast')), '(1,61,7138)', 'last: of 7,200 times the newest that is late is fired; the last minute is not late, and meets that run');
select is((select row(fired, skipped, missed)::text from pawl.list_schedules('snone')), '(1,60,7139)', 'none: the last minute is not late');
select is((select count(*) from pawl.list_skips('snone')), 2::bigint, 'two rows tell of them');
-- A transaction triggers at most twenty runs of a schedule.
select pawl.create_schedule('many', 'w', every => '1 min', catch_up => 'all', overlap => 'allow') \g /dev/null
select pawl.test_clock_advance('1 h') \g /dev/null
select pawl._fire_one(s, pawl.now()) from pawl_data.schedule s where s.name = 'many' \g /dev/null
select is((select fired from pawl.list_schedules('many')), 20::bigint, 'of sixty late times one transaction fires twenty');
select pawl._fire_one(s, pawl.now()) from pawl_data.schedule s where s.name = 'many' \g /dev/null
select pawl._fire_one(s, pawl.now()) from pawl_data.schedule s where s.name = 'many' \g /dev/null
select is((select row(fired, skipped, missed)::text from pawl.list_schedules('many')), '(60,0,0)', 'and further ones the others');
-- Skips are kept as long as events.
select pawl.test_clock_advance('8 days') \g /dev/null
update pawl_data.chore set due_at = '-infinity' where chore = 'calendar';
do $$ begin for i in 1..3 loop call pawl.tick(true); end loop; end $$;
select is((select count(*) from pawl_data.schedule_skip where noted_at < pawl.now() - interval '7 days'), 0::bigint, 'old ones are deleted');
select * from finish();
