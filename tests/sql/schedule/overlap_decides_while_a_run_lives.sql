-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.test_clock_set('2026-06-01 00:00:30+00') \g /dev/null
select pawl.create_workflow('w') \g /dev/null
select pawl.create_schedule(x, 'w', cron => '* * * * *', overlap => x) from unnest(array['skip', 'queue', 'cancel', 'allow']) x \g /dev/null
create procedure pg_temp.until(until timestamptz) language plpgsql as $$
begin
    loop
        call pawl.tick(true);
        exit when pawl.now() >= until;
        perform pawl.test_clock_set(least(pawl.now() + interval '1 s', until));
    end loop;
end $$;
create function pg_temp.fired(name text) returns text language sql as $$
    select string_agg(to_char((t.input -> 'scheduled' ->> 'local')::timestamp, 'MI'), ' ' order by t.input -> 'scheduled' ->> 'at') from pawl_data.task t where t.input -> 'scheduled' ->> 'by' = name
$$;
create function pg_temp.ends(name text) returns bigint language sql as $$
    select count(k.answer) from pawl_data.task t, pawl.kill(array[t.run_id]) k where t.input -> 'scheduled' ->> 'by' = name
$$;
call pg_temp.until('2026-06-01 00:03:30+00');
select is(pg_temp.fired('allow'), '01 02 03', 'allow: each time has its run');
select is(pg_temp.fired('skip'), '01', 'skip: the first run lives, and the others are skipped');
select is((select row(times, reason, run_id = (select run_id from pawl_data.task t where t.input -> 'scheduled' ->> 'by' = 'skip'))::text from pawl.list_skips('skip')), '(2,overlap,t)', 'because of that run');
select is(pg_temp.fired('queue'), '01', 'queue: the first run lives');
select is((select row(waiting_at at time zone 'UTC', skipped)::text from pawl.list_schedules('queue')), '("2026-06-01 00:03:00",1)', 'the newest time waits, the one before it was skipped');
select is(pg_temp.fired('cancel'), '03', 'cancel: a run that no worker holds ends at once, for the next');
select is((select string_agg(get.status || ' ' || (get.error ->> 'message'), ', ' order by r.run_id) from pawl.list_runs(only_status => 'CANCELLED') r, pawl.get_run(r.run_id) get), 'CANCELLED schedule cancel has its next time, CANCELLED schedule cancel has its next time', 'with its cause');
-- The runs end.
select pg_temp.ends(x) from unnest(array['skip', 'queue']) x \g /dev/null
call pg_temp.until('2026-06-01 00:03:40+00');
select is(pg_temp.fired('skip'), null, 'skip: what was skipped stays so');
select is(pg_temp.fired('queue'), '03', 'queue: the time that waited is fired');
call pg_temp.until('2026-06-01 00:04:10+00');
select is(pg_temp.fired('skip'), '04', 'skip: the next time is fired');
select is(pg_temp.fired('queue'), '03', 'queue: the next one waits');
-- The calendar has other rules.
update pawl_data.schedule set next_at = next_at + interval '1 min', computed_at = '2020-01-01' where name = 'queue';
select pawl._chore_calendar(pawl.now()) \g /dev/null
select is((select row(next_at at time zone 'UTC', fire_at < next_at)::text from pawl_data.schedule where name = 'queue'), '("2026-06-01 00:05:00",t)', 'queue: a time that waits is looked for as soon as before');
-- A run that a worker holds.
delete from pawl_data.schedule where name <> 'cancel';
delete from pawl_data.task where input -> 'scheduled' ->> 'by' <> 'cancel';
select t.session(lease => '1 h') as s \gset
select run_id as r, fence as f from t.one(:s) \gset
call pg_temp.until('2026-06-01 00:05:20+00');
select is((select string_agg(to_char((t.input -> 'scheduled' ->> 'local')::timestamp, 'MI') || case when t.ending is null then '' else ' ending' end, ', ') from pawl_data.task t), '04 ending', 'a held run is asked to end, and the next does not begin');
select is((select count(*) from pawl_data.audit where run_id = :'r' and what = 'cancel'), 1::bigint, 'once');
select answer from pawl.release(:s, :'r', :f) \g /dev/null
call pg_temp.until('2026-06-01 00:05:25+00');
select is(pg_temp.fired('cancel'), '05', 'when it has ended, the next begins');
select is((select row(fired, skipped, missed)::text from pawl.list_schedules('cancel')), '(5,0,0)', 'no time was left out');
select * from finish();
