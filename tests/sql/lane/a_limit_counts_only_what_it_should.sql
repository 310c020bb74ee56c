-- SPDX-License-Identifier: Apache-2.0
-- Rows that count for the limit of a workflow, and no longer should, are found by housekeeping.
select plan(6);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"limit": 1, "limit_while": "run"}') \g /dev/null
select t.session(lease => '1 day') as s \gset
create function pg_temp.chores() returns void language sql as $$ select t.later('11 s'); select pawl.housekeep() from generate_series(1, 3); $$;
select count(*) from generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i)) \gset
select run_id as r, fence as f from pawl.claim(:s, 100) \gset
select c.answer from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f], array['sleep', 'suspend'], array['nap#1', null], seqs => array[0, 0],
    options => array['{"ms": 600000}', null]) c \g /dev/null
select pg_temp.chores() \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'a run counts while it sleeps');
-- A sleep that would keep the limit for ever: awake, it would wait for room itself.
select pawl.alter_workflow('test.flow', '{"limit_while": "held"}') \g /dev/null
select pg_temp.chores() \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'now only while a worker holds it');
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'which the next does');
select pg_temp.chores() \g /dev/null
select is((select count(*) from pawl_data.lane_hold), 1::bigint, 'and housekeeping leaves what is held');
-- An error has left a row.
insert into pawl_data.lane_hold (queue_id, lane, run_id, task_no) select h.queue_id, h.lane, gen_random_uuid(), 0 from pawl_data.lane_hold h;
select count(c.*) from (select run_id, fence from pawl_data.task where place = 'h') h, lateral pawl.complete(:s, h.run_id, h.fence) c \gset
select pg_temp.chores() \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'nor does a row count that an error has left');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
