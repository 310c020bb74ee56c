-- SPDX-License-Identifier: Apache-2.0
-- A run that waited, a delayed run, a child, a run of the time before the limit, and a suspect: none of them passes the limit.
select plan(17);
select pawl.create_workflow('test.flow', jitter => 0) \g /dev/null
select t.session() as s \gset
select run_id as old from pawl.trigger('test.flow', limit_key => 'a') \gset
select pawl.alter_workflow('test.flow', '{"key_limit": 1}') \g /dev/null
select is((select run_id from pawl.claim(:s, 10)), :'old'::uuid, 'a run that was triggered before the limit was set');
select run_id as other from pawl.trigger('test.flow', limit_key => 'a') \gset
select run_id as late from pawl.trigger('test.flow', limit_key => 'a', delay => '1 s') \gset
select answer from pawl.fail(:s, :'old', 1, '{}') \g /dev/null
select is((select run_id from pawl.claim(:s, 10)), :'other'::uuid, 'while it waits for its retry another is held');
select t.later('5 s', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'the retry is due, and the delay is over, but there is no room');
select is(t.state(:'old'), 'QUEUED limit', 'it is queued');
select answer from pawl.complete(:s, :'other', 1) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'then one of them');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'and only one');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h') h, lateral pawl.complete(:s, run_id, fence) \gset
select count(*) as n from pawl.claim(:s, 10) c, lateral pawl.complete(:s, c.run_id, c.fence) \gset
select is(:n, 1, 'the other');
-- Suspects.
select run_id as r from pawl.trigger('test.flow', limit_key => 'a') \gset
select t.crash_out(:s, 2) \g /dev/null
select is((select place::text from pawl_data.task where run_id = :'r'), 's', 'a suspect');
select run_id as o from pawl.trigger('test.flow', limit_key => 'a') \gset
select is((select run_id from pawl.claim(:s, 10)), :'o'::uuid, 'another run of its key is held');
select t.session() as q \gset
select is((select count(*) from pawl.claim(:q, 10, quiet => true)), 0::bigint, 'a quiet worker gets no suspect of a full lane');
select answer from pawl.complete(:s, :'o', 1) \g /dev/null
select is((select run_id from pawl.claim(:q, 10, quiet => true)), :'r'::uuid, 'when there is room it does');
select is((select count(*) from pawl.trigger('test.flow', limit_key => 'a'), lateral pawl.claim(:s, 10)), 0::bigint, 'and it counts');
select is(t.lane_faults(), 'none', 'lanes fit');
-- Suspects of many full lanes, and many of one, are in front of one that has room.
select count(*) from generate_series(1, 12) n, lateral pawl.trigger('test.flow', to_json(n), limit_key => 'a') \g /dev/null
select count(*) from generate_series(1, 12) n, lateral pawl.trigger('test.flow', limit_key => 'full' || n) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 12::bigint, 'twelve lanes more are full');
select count(*) from generate_series(1, 12) n, lateral pawl.trigger('test.flow', limit_key => 'full' || n) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select run_id as v from pawl.trigger('test.flow', limit_key => 'victim') \gset
delete from pawl_data.lane_task;
update pawl_data.task set place = 's', crashes = 2, lane = null where place = 'l';
select t.session() as q \gset
select is((select string_agg(run_id::text, ' ') from pawl.claim(:q, 10, quiet => true)), :'v', 'it is claimed');
select is((select count(*) from pawl.claim(:q, 10, quiet => true)), 0::bigint, 'no other is');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
