-- SPDX-License-Identifier: Apache-2.0
-- Also when a partition begins within the last pages that are read, and where the clocks have no midnight on that day.
select plan(4);
create function pg_temp.end_many(p_count int) returns bigint language plpgsql as $$
declare
    v_session bigint := t.session(lease => '1 day');
    v_ended bigint;
begin
    for i in 1..5 loop perform pawl.test_clock_advance('11 s'); perform pawl.housekeep(); end loop;
    perform from pawl.trigger_many('test.flow', array_fill(('{"a":"' || repeat('x', 900) || '"}')::json, array[p_count]));
    select count(*) into v_ended
    from (
        select array_agg(run_id) r, array_agg(fence) f, array_fill('complete'::text, array[count(*)::int]) k, array_fill('1'::text, array[count(*)::int]) p
        from pawl.claim(v_session, p_count)) d, lateral pawl.commit(v_session, d.r, d.f, d.k, null, d.p) a
    where a.answer = 'ok';
    for i in 1..30 loop perform pawl.test_clock_advance('11 s'); perform pawl.housekeep(); end loop;
    return v_ended;
end $$;
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.test_clock_set('2027-04-20 12:00+00') \g /dev/null
select is(pg_temp.end_many(1000), 1000::bigint, 'a thousand runs end, on more than two pieces of pages');
select is((select succeeded from pawl.metrics('test.flow', '10 min')), 1000::bigint, 'each is counted once');
set timezone to 'Africa/Cairo';
select pawl.test_clock_set('2027-05-01 12:00+00') \g /dev/null
update pawl_data.chore set position = null where chore = 'rollup';
select is(pg_temp.end_many(100), 100::bigint, 'on the day after one that began at one o''clock');
select is((select succeeded from pawl.metrics('test.flow', '10 min')), 100::bigint, 'they are counted, too');
select * from finish();
