-- SPDX-License-Identifier: Apache-2.0
-- With limit_while run a run counts until it ends, so that with key_limit 1 runs of a key are executed in order.
select plan(39);
select t.limited('test.flow', 1) \g /dev/null
select pawl.alter_workflow('test.flow', '{"limit_while": "run", "max_attempts": 3, "base": "1 s", "jitter": 0}') \g /dev/null
select t.session(lease => '1 day', name => 'web-3') as s \gset
create function pg_temp.trigger(key text, n int) returns uuid language sql as $$ select pawl.test_clock_advance('1 ms'); select run_id from pawl.trigger('test.flow', to_json(n), limit_key => key) $$;
create function pg_temp.claimed(session bigint, quiet boolean default false) returns text language sql as $$
    select coalesce(string_agg(c.input::text, ' ' order by c.input::text), 'none') from pawl.claim(session, 100, quiet => quiet) c
$$;
select pg_temp.trigger('a', n) from generate_series(1, 6) n \g /dev/null
create temp view held as select t.run_id, t.fence, t.input from pawl_data.task t where t.place = 'h';
create function pg_temp.done(session bigint, kind text default 'complete') returns text language sql as $$
    select string_agg(c.answer, ' ') from held h, lateral pawl.commit(session, array[h.run_id], array[h.fence], array[kind], payloads => array['{}']) c
$$;
select is(pg_temp.claimed(:s), '1', 'the first');
select is(pg_temp.claimed(:s), 'none', 'alone');
-- A sleep.
select c.answer from held h, lateral pawl.commit(:s, array[h.run_id, h.run_id], array[h.fence, h.fence], array['sleep', 'suspend'], array['nap#1', null], seqs => array[0, 0], options => array['{"ms": 60000}', null]) c \g /dev/null
select is(pg_temp.claimed(:s), 'none', 'while it sleeps no other starts');
select alike(pawl.why((select run_id from pawl_data.lane_task order by due_at desc limit 1)),
    'Queued for % ahead of it with limit key "a", and 1 of 1 are held (key_limit of workflow test.flow); the oldest is run %, which has not ended, claimed 0 s ago.', 'why names the run');
select is((select ready from pawl.rest(:s)), false, 'a worker that rests is told so');
select is(t.lane_faults(), 'none', 'lanes fit');
select t.later('60 s', :s) \g /dev/null
select is((select ready from pawl.rest(:s)), true, 'it wakes');
select is(pg_temp.claimed(:s), '1', 'and goes on');
-- A failed attempt.
select pg_temp.done(:s, 'fail') \g /dev/null
select is(pg_temp.claimed(:s), 'none', 'until its next attempt no other starts');
select t.later('2 s', :s) \g /dev/null
select is(pg_temp.claimed(:s), '1', 'which comes');
select pg_temp.done(:s, 'release') \g /dev/null
select is(pg_temp.claimed(:s), '1', 'a worker gives it back, and the next gets the same');
select is(pg_temp.done(:s), 'ok', 'it ends');
select is(pg_temp.claimed(:s), '2', 'then the second');
-- A lost worker.
select t.session(name => 'lost') as l \gset
select pg_temp.done(:s) \g /dev/null
select is(pg_temp.claimed(:l), '3', 'another worker');
select t.later('31 s', :s) \g /dev/null
select is(pg_temp.claimed(:s), '3', 'its run is claimed again');
update pawl_data.task set crashes = 2 where place = 'h';
update pawl_data.worker set lease = '1 ms', lease_until = pawl.now() - interval '1 s' where session_id = :s;
select t.later('1 s') \g /dev/null
select t.session(lease => '1 day', name => 'web-4') as s \gset
select is((select place from pawl_data.task where run_id in (select run_id from pawl_data.lane_hold)), 's', 'it is suspect');
select is(pg_temp.claimed(:s), 'none', 'then others wait');
select is(pg_temp.claimed(:s, true), '3', 'for a worker that holds nothing');
-- A pause, a cancel.
select run_id as r from held \gset
select answer from pawl.pause(array[:'r'::uuid]) \g /dev/null
select pg_temp.done(:s, 'release') \g /dev/null
select is(pg_temp.claimed(:s), 'none', 'a paused run keeps its place');
select answer from pawl.resume(array[:'r'::uuid]) \g /dev/null
select pawl._move_to_lanes(array(select ctid from pawl_data.task where run_id = :'r')) \g /dev/null
select is((select priority from pawl_data.lane_task where run_id = :'r'), (100 - 32768)::smallint, 'resumed it is the first in line');
select is(t.lane_faults(), 'none', 'lanes fit');
select answer from pawl.kill(array[:'r'::uuid]) \g /dev/null
select is(pg_temp.claimed(:s), '4', 'killed, it makes room');
select is((select count(*) from pawl_data.lane_hold), 1::bigint, 'for one');
-- With a limit of the workflow.
select pawl.alter_workflow('test.flow', '{"limit": 1}') \g /dev/null
select pg_temp.trigger('b', 7) \g /dev/null
select c.answer from held h, lateral pawl.commit(:s, array[h.run_id, h.run_id], array[h.fence, h.fence], array['sleep', 'suspend'], array['nap#1', null], seqs => array[0, 0], options => array['{"ms": 60000}', null]) c \g /dev/null
select is(pg_temp.claimed(:s), 'none', 'it counts while it sleeps');
select t.later('60 s', :s) \g /dev/null
select is(pg_temp.claimed(:s), '4', 'goes on though the limit is reached');
select is(pg_temp.done(:s), 'ok', 'and ends');
select matches(pg_temp.claimed(:s), '^[57]$', 'then one of two keys');
-- Back.
select pawl.alter_workflow('test.flow', '{"limit": null, "limit_while": "held"}') \g /dev/null
select pg_temp.done(:s) \g /dev/null
select is(t.work(:s), 2, 'the rest is done');
select is((select count(*) from pawl_data.lane_hold), 0::bigint, 'nothing is held');
select is(t.lane_faults(), 'none', 'lanes fit');
-- Two of a key, which are given back at once.
select pawl.alter_workflow('test.flow', '{"key_limit": 2, "limit_while": "run"}') \g /dev/null
select pg_temp.trigger('c', n) from generate_series(1, 3) n \g /dev/null
select is(pg_temp.claimed(:s), '1 2', 'two of a key');
select is(pg_temp.done(:s, 'release'), 'ok ok', 'are given back');
select is((select count(*) from generate_series(1, 3) i, lateral pawl.claim(:s, least(i, 1))), 2::bigint, 'and claimed again, one by one');
-- Another mode, while a run that has started waits.
select pawl.alter_workflow('test.flow', '{"key_limit": 3, "limit_while": "held", "key_rate": "1000/s", "key_burst": 10}') \g /dev/null
select run_id as r, fence as f from held order by run_id limit 1 \gset
select answer from pawl.release(:s, :'r', :f) \g /dev/null
select pawl._move_to_lanes(array(select ctid from pawl_data.task where run_id = :'r')) \g /dev/null
select is((select priority from pawl_data.lane_task where run_id = :'r'), (100 - 32768)::smallint, 'it has started, and is the first in line');
select pawl.alter_workflow('test.flow', '{"key_limit": 1, "limit_while": "run"}') \g /dev/null
select is(pg_temp.claimed(:s), 'none', 'but does not count, so that it waits for room');
select is(pg_temp.done(:s), 'ok', 'which comes');
select is(pg_temp.claimed(:s), '1', 'for the first');
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit_while": "x"}')$$, 'PW003', 'limit_while must be held or run', 'another word');
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit_while": null}')$$, 'PW003', 'limit_while must be held or run', 'or none');
select * from finish();
