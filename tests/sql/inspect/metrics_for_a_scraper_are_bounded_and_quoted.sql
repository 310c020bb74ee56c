-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \gset
create function pg_temp.samples(p_like text) returns setof text language sql as $$
    select l from regexp_split_to_table(pawl.prometheus(), E'\n') l where l like p_like
$$;
-- 498 workflows have been counted before; of the next five, two more get a label of their own.
insert into pawl_data.metric_total
select 100000 + n, true, 0, 0, 0, 0, 0, array_fill(0::bigint, array[15]), array_fill(0::bigint, array[15]) from generate_series(1, 498) n;
select pawl.create_workflow('flow.n' || n) from generate_series(1, 5) n \g /dev/null
do $$
declare v record; v_s bigint := (select max(session_id) from pawl_data.worker);
begin
    for i in 1..5 loop
        perform from pawl.trigger('flow.n' || i);
        select * into v from pawl.claim(v_s, 1);
        perform from pawl.complete(v_s, v.run_id, v.fence);
    end loop;
    for i in 1..30 loop perform pawl.test_clock_advance('11 s'); perform from pawl.heartbeat(v_s); perform pawl.housekeep(); end loop;
end $$;
delete from pawl_data.metric_total where workflow_id > 100000;
select is((select string_agg(l, ' ' order by l) from pg_temp.samples('pawl_runs_ended_total%success%') l),
    'pawl_runs_ended_total{workflow="(others)",outcome="success"} 3 pawl_runs_ended_total{workflow="flow.n1",outcome="success"} 1 pawl_runs_ended_total{workflow="flow.n2",outcome="success"} 1', 'workflows beyond the first 500 share a label');
select pawl.create_schedule('quoted', 'test.flow', every => '1 day') \gset
update pawl_data.schedule set name = E'a"b\\\nc';
select is((select l from pg_temp.samples('pawl_schedule_fired_total%') l), 'pawl_schedule_fired_total{schedule="a\"b\\\nc",tenant=""} 0', 'quotes, backslashes and line feeds in a name are escaped');
insert into pawl_data.schedule (tenant, name, workflow, every, zone, input, catch_up, catch_up_within, overlap, jitter, anchor_at, handled_at, next_at, fire_at, computed_at, created_at)
select '', 's' || n, 'test.flow', '1 day', 'UTC', '{}', 'last', '1 day', 'skip', '0', pawl.now(), pawl.now(), pawl.now(), pawl.now() + interval '1 day', pawl.now(), pawl.now() from generate_series(1, 600) n;
select is((select count(*) from pg_temp.samples('pawl_schedule_fired_total{%') l), 500::bigint, 'the first 500 schedules');
select is((select l from pg_temp.samples('pawl_schedules{state="active"}%') l), 'pawl_schedules{state="active"} 601', 'all of them are counted');
insert into pawl_data.queue (name, workflow_id) select 'q' || n, 1 from generate_series(1, 600) n;
select is((select count(*) from pg_temp.samples('pawl_queue_ready{%') l), 500::bigint, 'the first 500 queues');
select is((select count(*) from pg_temp.samples('# TYPE %') l), (select count(*) from pg_temp.samples('# HELP %') l), 'each metric has its type and its help');
select is((select string_agg(l, ' ') from pg_temp.samples('%') l where l <> '' and l !~ '^(# (HELP|TYPE) [a-z_]+ .*|[a-z_]+(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? -?[0-9.e+-]+)$'), null, 'each line has the form that the format has');
select is(right(pawl.prometheus(), 1), E'\n', 'the last line is whole');
select is((select string_agg(l, ' ') from pg_temp.samples('pawl_workers%') l), 'pawl_workers{state="live"} 1 pawl_workers{state="starved"} 0 pawl_workers{state="draining"} 0 pawl_workers{state="lost"} 0 pawl_workers_idle 0', 'workers by state');
select pawl.rest(:s) \gset
select is((select string_agg(l, ' ') from pg_temp.samples('pawl_workers%') l where l not like '% 0'), 'pawl_workers{state="live"} 1 pawl_workers_idle 1', 'one that rests is live, too');
select is((select l from pg_temp.samples('pawl_counted_until_timestamp_seconds %') l)::text, 'pawl_counted_until_timestamp_seconds ' || (select position from pawl_data.chore where chore = 'rollup'), 'how far the count is');
select is((select string_agg(l, ' ') from pg_temp.samples('pawl_lane%{%') l), 'pawl_lanes{state="open"} 0 pawl_lanes{state="full"} 0 pawl_lanes{state="rate"} 0 pawl_lanes{state="empty"} 0 pawl_lane_tasks{state="waiting"} 0 pawl_lane_tasks{state="held"} 0', 'lanes');
select * from finish();
