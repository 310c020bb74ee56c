-- SPDX-License-Identifier: Apache-2.0
-- Set ahead, a clock gives one burst; set back, it takes none away for longer than the time between two starts.
select plan(11);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"key_rate": "1/s", "key_burst": 2}') \g /dev/null
select t.session(lease => '1 day') as s \gset
create function pg_temp.claimed(session bigint) returns bigint language sql as $$ select count(*) from pawl.claim(session, 100) $$;
create function pg_temp.chores() returns void language sql as $$
    update pawl_data.chore set due_at = '-infinity' where chore = 'lanes';
    -- Ten chores at a time.
    select pawl.housekeep();
    select pawl.housekeep();
$$;
select count(*) from generate_series(1, 50) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'a') \gset
select is(pg_temp.claimed(:s), 2::bigint, 'a burst');
select pawl.test_clock_advance('10 h') \g /dev/null
select is(pg_temp.claimed(:s), 2::bigint, 'another one, far ahead');
select is(pg_temp.claimed(:s), 0::bigint, 'and no more');
select pawl.test_clock_advance('-10 h') \g /dev/null
select pg_temp.chores() \g /dev/null
select is(pg_temp.claimed(:s), 0::bigint, 'set back: nothing at once');
select is((select next_start - pawl.now() from pawl.list_lanes('test.flow')), interval '1 s', 'but as soon as the rate allows');
select pawl.test_clock_advance('1 s') \g /dev/null
select is(pg_temp.claimed(:s), 1::bigint, 'one');
select pawl.test_clock_advance('1 s') \g /dev/null
select is(pg_temp.claimed(:s), 1::bigint, 'by one');
-- Set back by less than a second: the rate holds.
select pawl.test_clock_advance('-900 ms') \g /dev/null
select is(pg_temp.claimed(:s), 0::bigint, 'set back a little: nothing');
select pawl.test_clock_advance('1 s') \g /dev/null
select is(pg_temp.claimed(:s), 0::bigint, 'what was paid for is paid for');
select pawl.test_clock_advance('900 ms') \g /dev/null
select is(pg_temp.claimed(:s), 1::bigint, 'until it is time');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
