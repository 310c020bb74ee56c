-- SPDX-License-Identifier: Apache-2.0
-- Rows of runs that end are appended, and counted from the end of their partition backward. Vacuum frees the place of purged runs in its middle.
select plan(5);
create function pg_temp.end_many(p_count int) returns bigint language plpgsql as $$
declare
    v_session bigint := t.session(lease => '1 day');
    v_ended bigint;
begin
    perform from pawl.trigger_many('test.flow', array_fill(('{"a":"' || repeat('x', 900) || '"}')::json, array[p_count]));
    select count(*) into v_ended
    from (
        select array_agg(run_id) r, array_agg(fence) f, array_fill('complete'::text, array[count(*)::int]) k, array_fill('1'::text, array[count(*)::int]) p
        from pawl.claim(v_session, p_count)) d, lateral pawl.commit(v_session, d.r, d.f, d.k, null, d.p) a
    where a.answer = 'ok';
    perform pawl.test_clock_advance('10 min');
    return v_ended;
end $$;
create function pg_temp.count_all() returns void language sql as $$
    select pawl.test_clock_advance('11 s'), pawl.housekeep() from generate_series(1, 200)
$$;
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.test_clock_set('2027-04-20 12:00+00') \g /dev/null
select pawl.housekeep() \g /dev/null
select pg_temp.end_many(1000), pg_temp.end_many(1000) \g /dev/null
select pg_temp.count_all() \g /dev/null
select is((select succeeded from pawl.metrics('test.flow', '2 hours')), 2000::bigint, 'two thousand runs, on more than four pieces of pages');
select count(*) as n from (
    select run_id from pawl_data.run order by run_id offset 300 limit 300
) d, lateral pawl.purge(array[d.run_id]) p \g /dev/null
vacuum pawl_data.run;
select is(pg_temp.end_many(100), 100::bigint, 'a hundred end after a purge');
select cmp_ok((select min(ctid) from pawl_data.run where run_id in (select run_id from pawl_data.run order by run_id desc limit 100)), '<',
    (select min(ctid) from pawl_data.run where run_id in (select run_id from pawl_data.run order by run_id offset 1500 limit 100)), 'in place that it has freed');
select pg_temp.count_all() \g /dev/null
select is((select succeeded from pawl.metrics('test.flow', '1 hour')), 100::bigint, 'and are counted');
-- Once the day is past its retention, nothing is left of it.
select pawl.test_clock_advance('60 days') \g /dev/null
select pg_temp.count_all() \g /dev/null
select is((select count(*) from pawl_data.freed), 0::bigint, 'what was noted of it goes with its day');
select * from finish();
