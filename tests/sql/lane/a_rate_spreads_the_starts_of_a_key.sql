-- SPDX-License-Identifier: Apache-2.0
select plan(44);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"key_rate": "10/min"}') \g /dev/null
select t.session(lease => '1 day', name => 'web-3') as s \gset
create function pg_temp.claimed(session bigint) returns bigint language sql as $$ select count(*) from pawl.claim(session, 100) $$;
select count(*) from generate_series(1, 9) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'a') \gset
select is(pg_temp.claimed(:s), 1::bigint, 'one starts');
select is(pg_temp.claimed(:s), 0::bigint, 'and no second');
select t.later('5999 ms') \g /dev/null
select is(pg_temp.claimed(:s), 0::bigint, 'nor just before its time');
select is((select ready from pawl.rest(:s)), false, 'a worker that rests is told so');
select alike(pawl.why((select run_id from pawl_data.lane_task order by due_at limit 1)),
    'Queued for 6 s: % ahead of it with limit key "a", and 10/min may start (key_rate of workflow test.flow); the next may start in 0 s, at 20__-__-__ __:__:__.', 'why names the rate and the time');
select pawl.test_clock_advance('1 ms') \g /dev/null
select is((select ready from pawl.rest(:s)), true, 'there is something when it is time');
select is(pg_temp.claimed(:s), 1::bigint, 'the next starts');
select is(pg_temp.claimed(:s), 0::bigint, 'alone');
select results_eq('select limit_key, waiting, held, key_limit, key_rate, key_burst, reason is not null, next_start - pawl.now() from pawl.list_lanes(''test.flow'')',
    $$values ('a', 7::bigint, 2::bigint, null::int, '10/min', 1, true, interval '6 s')$$, 'the list has it');
-- A pause is not made up for.
select t.later('1 h', :s) \g /dev/null
select is(pg_temp.claimed(:s), 1::bigint, 'after an hour one starts');
select is(pg_temp.claimed(:s), 0::bigint, 'not 600');
-- Another key.
select count(*) from generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'b') \gset
select is((select array_agg(t.limit_key) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id)), '{b}', 'each key counts by itself');
select is(t.lane_faults(), 'none', 'lanes fit');
-- A burst.
select is(pawl.set_lane('test.flow', 'a', key_rate => '1/s', key_burst => 3, by => 'ada'), 'ok', 'a key gets a rate and a burst of its own');
select is(pawl.set_lane('test.flow', 'a', key_rate => '1/s', key_burst => 3, by => 'ada'), 'already', 'once');
select t.later('10 s', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'a'), 3::bigint, 'three at once');
select t.later('1 s', :s) \g /dev/null
select is(pg_temp.claimed(:s), 1::bigint, 'then one a second');
select is(pg_temp.claimed(:s), 0::bigint, 'and no more');
select alike(pawl.why((select run_id from pawl_data.lane_task where lane = pawl._lane_of('', 'a') limit 1)),
    'Queued for %, and 1/s may start (ada has set this rate); the next may start in 1 s, at %', 'why names who has set it');
-- A run that goes on does not start.
select run_id as r, fence as f from pawl_data.task where place = 'h' and limit_key = 'a' order by run_id limit 1 \gset
select answer from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f], array['sleep', 'suspend'], array['nap#1', null], seqs => array[0, 0], options => array['{"ms": 500}', null]) \g /dev/null
select t.later('600 ms', :s) \g /dev/null
select is((select array_agg(run_id) from pawl.claim(:s, 100)), array[:'r'::uuid], 'a run that has slept goes on, though none may start');
select is((select priority from pawl_data.task where run_id = :'r'), 100::smallint, 'and keeps its priority');
select is(t.lane_faults(), 'none', 'lanes fit');
select t.later('400 ms', :s) \g /dev/null
select is(pg_temp.claimed(:s), 1::bigint, 'it has taken nobody''s start');
select is((select waiting from pawl.list_lanes('test.flow', only_key => 'a')), 1::bigint, 'one is left');
-- A run that goes on and is cancelled.
select run_id as r, fence as f from pawl_data.task where place = 'h' and limit_key = 'a' order by run_id limit 1 \gset
select answer from pawl.release(:s, :'r', :f) \g /dev/null
select pawl.set_lane('test.flow', 'c', 1) \g /dev/null
select count(*) from generate_series(1, 20) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'c') \gset
select pawl._move_to_lanes(array(select ctid from pawl_data.task where run_id = :'r')) \g /dev/null
select is((select priority from pawl_data.lane_task where run_id = :'r'), (100 - 32768)::smallint, 'a released run is first in line');
select answer from pawl.kill(array[:'r']::uuid[]) \g /dev/null
select is((select count(*) from pawl_data.lane_task where run_id = :'r'), 0::bigint, 'and leaves it');
-- A limit and a rate.
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 1::bigint, 'a limit of its own');
select t.later('7 s', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 0::bigint, 'is full');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' and limit_key = 'c' limit 1) h, lateral pawl.complete(:s, run_id, fence) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 1::bigint, 'room, and time');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' and limit_key = 'c' limit 1) h, lateral pawl.complete(:s, run_id, fence) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 0::bigint, 'room alone is not enough');
select is((select state from pawl_data.lane where limit_key = 'c'), 'w', 'the lane waits');
-- A new rate counts at once.
select pawl.set_lane('test.flow', 'c', key_rate => '1/day') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 0::bigint, 'a lower rate');
select t.later('1 h', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 1::bigint, 'what was paid for by then is paid for');
select t.later('1 h', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 0::bigint, 'one a day');
select pawl.set_lane('test.flow', 'c', key_rate => '2/s') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 0::bigint, 'a higher rate gives nothing at once');
select t.later('500 ms', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'c'), 1::bigint, 'but soon');
-- A lane that is forgotten keeps what it has paid for.
select pawl.set_lane('test.flow', 'd', key_rate => '1/day') \g /dev/null
select pawl.trigger('test.flow', limit_key => 'd') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'd'), 1::bigint, 'the run of the day');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' and limit_key = 'd' limit 1) h, lateral pawl.complete(:s, run_id, fence) \g /dev/null
select pawl.claim(:s, 100) \g /dev/null
select t.later('61 min', :s), t.later('11 s', :s) \g /dev/null
select pawl.trigger('test.flow', limit_key => 'd') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) where t.limit_key = 'd'), 0::bigint, 'no other on that day');
-- What is refused.
select throws_ok($$select pawl.alter_workflow('test.flow', '{"key_rate": "10"}')$$, 'PW003', 'bad key_rate "10"', 'a number alone');
select throws_ok($$select pawl.set_lane('test.flow', 'a', key_rate => '0/s')$$, 'PW003', 'bad key_rate "0/s"', 'none');
select throws_ok($$select pawl.set_lane('test.flow', 'a', key_rate => '1/s', key_burst => 0)$$, 'PW003', 'key_burst must be between 1 and 10000, and needs a key_rate', 'no burst');
select throws_ok($$select pawl.set_lane('test.flow', 'a', key_burst => 2)$$, 'PW003', 'key_burst must be between 1 and 10000, and needs a key_rate', 'a burst alone');
select t.flow('a.flow', '[["a"]]') \g /dev/null
select throws_ok('select pawl.alter_workflow(''a.flow'', ''{"key_rate": "1/s"}'')', 'PW003', '"a.flow" is a flow, which cannot have a key_limit or a key_rate, or be fair', 'of a flow');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
