-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-06-01 00:10+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select count(pawl.create_schedule('s' || n, 'w', cron => '0 * * * *', jitter => '10 min', overlap => 'allow')) from generate_series(1, 100) n \g /dev/null
select is((select count(*) from pawl_data.schedule where next_at = '2026-06-01 01:00+00' and fire_at >= next_at and fire_at < next_at + interval '10 min'), 100::bigint, 'each is fired within the jitter after its time');
select cmp_ok((select count(distinct date_trunc('minute', fire_at)) from pawl_data.schedule), '>=', 8::bigint, 'they are spread');
select is((select count(*) from pawl_data.schedule s where s.fire_at <> pawl._jittered(s, s.next_at)), 0::bigint, 'by a rule of name and time');
-- Zone data may have changed: what is computed again is the same.
create temp table before as select name, next_at, fire_at from pawl_data.schedule;
update pawl_data.schedule set computed_at = '2020-01-01';
update pawl_data.schedule set next_at = '2026-06-01 02:00+00', fire_at = '2026-06-01 02:00+00' where name = 's7';
update pawl_data.chore set due_at = '-infinity' where chore = 'calendar';
do $$ begin for i in 1..3 loop call pawl.tick(true); end loop; end $$;
select is((select count(*) from pawl_data.schedule s join before b using (name, next_at, fire_at) where s.computed_at = pawl.now()), 100::bigint, 'computed again, each next time is what the calendar tells');
-- The nominal time is not moved.
do $$ begin for i in 1..62 loop perform pawl.test_clock_advance('1 min'); for j in 1..3 loop call pawl.tick(true); end loop; end loop; end $$;
select is((select count(*) from pawl_data.task t where t.input -> 'scheduled' ->> 'at' = '2026-06-01T01:00:00Z'), 100::bigint, 'all are fired, for the full hour');
select is((select sum(missed + skipped) from pawl.list_schedules()), 0::numeric, 'jitter makes no time late');
select * from finish();
