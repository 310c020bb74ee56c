-- SPDX-License-Identifier: Apache-2.0
-- A scraper takes a counter that falls for a restart. So totals are stored, and a minute that is counted again adds only what is new.
select plan(12);
select pawl.create_workflow('test.flow') \gset
select pawl.test_clock_set('2027-04-20 12:00+00') \g /dev/null
create function pg_temp.end_runs(p_count int, p_took interval) returns void language plpgsql as $$
declare v record; p_session bigint := t.session(lease => '1 hour');
begin
    for i in 1..p_count loop
        perform from pawl.trigger('test.flow');
        perform pawl.test_clock_advance('2 s');
        select * into v from pawl.claim(p_session, 1);
        perform pawl.test_clock_advance(p_took);
        perform from pawl.complete(p_session, v.run_id, v.fence);
    end loop;
end $$;
create function pg_temp.count_all(p_rounds int) returns void language plpgsql as $$
begin
    for i in 1..p_rounds loop perform pawl.test_clock_advance('11 s'); perform pawl.housekeep(); end loop;
end $$;
create function pg_temp.sample(p_sample text) returns text language sql as $$
    select l from regexp_split_to_table(pawl.prometheus(), E'\n') l where starts_with(l, p_sample || ' ')
$$;
select pg_temp.count_all(5);
select pg_temp.end_runs(4, '1 s'), pg_temp.end_runs(1, '20 s') \g /dev/null
select pg_temp.count_all(30);
select is(pg_temp.sample('pawl_runs_ended_total{workflow="test.flow",outcome="success"}'), 'pawl_runs_ended_total{workflow="test.flow",outcome="success"} 5', 'all are counted');
select is(pg_temp.sample('pawl_run_duration_seconds_bucket{workflow="test.flow",le="1"}'), 'pawl_run_duration_seconds_bucket{workflow="test.flow",le="1"} 4', 'a duration is at most the bound of its bucket');
select is(pg_temp.sample('pawl_run_duration_seconds_bucket{workflow="test.flow",le="0.5"}'), 'pawl_run_duration_seconds_bucket{workflow="test.flow",le="0.5"} 0', 'and above the bound before');
select is(pg_temp.sample('pawl_run_duration_seconds_sum{workflow="test.flow"}'), 'pawl_run_duration_seconds_sum{workflow="test.flow"} 24', 'the sum');
select is(pg_temp.sample('pawl_run_duration_seconds_count{workflow="test.flow"}'), 'pawl_run_duration_seconds_count{workflow="test.flow"} 5', 'the count');
select is(pg_temp.sample('pawl_run_wait_seconds_bucket{workflow="test.flow",le="2.5"}'), 'pawl_run_wait_seconds_bucket{workflow="test.flow",le="2.5"} 5', 'waits');
select is((select concat_ws(' ', success_share, p50_seconds, round(p95_seconds), round(p99_seconds)) from pawl.metrics('test.flow')), '1 0.8125 20 20', 'the same as percentiles, none above the longest');
-- The clock is moved backward, and the same minutes are counted again when it gets there.
select pawl.test_clock_set('2027-04-20 10:30+00') \g /dev/null
select pg_temp.count_all(30);
select pawl.test_clock_set('2027-04-20 11:58+00') \g /dev/null
select pg_temp.count_all(15);
select pg_temp.end_runs(1, '1 s');
select pg_temp.count_all(60);
select is((select sum(succeeded) from pawl_data.metric), 6::numeric, 'a minute is counted again with the run that ended in it since');
select is(pg_temp.sample('pawl_runs_ended_total{workflow="test.flow",outcome="success"}'), 'pawl_runs_ended_total{workflow="test.flow",outcome="success"} 6', 'the total has each run once');
select is(pg_temp.sample('pawl_run_duration_seconds_bucket{workflow="test.flow",le="+Inf"}'), 'pawl_run_duration_seconds_bucket{workflow="test.flow",le="+Inf"} 6', 'and so has the histogram');
-- Runs are purged, and their minutes are counted again.
select count(*) as gone from pawl.purge(array(select run_id from pawl.list_runs(only_status => 'SUCCESS'))) \gset
update pawl_data.chore set position = date_part('epoch', timestamptz '2027-04-20 11:55+00')::bigint::text where chore = 'rollup';
select pg_temp.count_all(60);
select is(pg_temp.sample('pawl_runs_ended_total{workflow="test.flow",outcome="success"}'), 'pawl_runs_ended_total{workflow="test.flow",outcome="success"} 6', 'a purge takes nothing from a total');
update pawl_data.metric set minute = minute - interval '100 days';
select pg_temp.count_all(3);
select is((select count(*) from pawl_data.metric) || ' ' || pg_temp.sample('pawl_runs_ended_total{workflow="test.flow",outcome="success"}'), '0 pawl_runs_ended_total{workflow="test.flow",outcome="success"} 6', 'nor does the retention of minutes');
select * from finish();
