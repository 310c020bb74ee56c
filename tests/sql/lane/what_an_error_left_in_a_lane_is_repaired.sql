-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
select run_id as r from pawl.trigger('test.flow', limit_key => 'a') \gset
select count(*) from pawl.claim(:s, 10) \gset
select run_id as o from pawl.trigger('test.flow', limit_key => 'a') \gset
-- As a call would that forgets the lane.
update pawl_data.task set place = 'w', due_at = 'infinity', session_id = null where run_id = :'r';
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'the lane seems full');
select t.later('11 s', :s) \g /dev/null
select is((select run_id from pawl.claim(:s, 10)), :'o'::uuid, 'housekeeping has opened it');
select is(t.lane_faults(), 'none', 'lanes fit');
-- A row in line of a task that is elsewhere.
select run_id as p from pawl.trigger('test.flow', limit_key => 'b') \gset
update pawl_data.task set place = 'w', due_at = 'infinity' where run_id = :'p';
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'nothing is there');
select t.later('11 s', :s) \g /dev/null
select is((select count(*) from pawl_data.lane_task), 0::bigint, 'the row is removed');
select is(t.lane_faults(), 'none', 'lanes fit');
-- Lanes that nobody uses.
select answer from pawl.complete(:s, :'o', 1) \g /dev/null
select pawl.kill(array(select run_id from pawl_data.task)) \g /dev/null
select count(*) from pawl.claim(:s, 10) \gset
select t.later('11 s', :s) \g /dev/null
select is((select count(*) from pawl_data.lane where state = 'e'), 2::bigint, 'empty lanes stay for a while');
select t.later('2 hours') \g /dev/null
select is((select count(*) from pawl_data.lane), 0::bigint, 'and are forgotten after an hour');
select t.session() as s \gset
select is((select count(*) from pawl.trigger('test.flow', limit_key => 'a'), lateral pawl.claim(:s, 10)), 1::bigint, 'a later run makes its lane again');
-- A task in line, and neither a row of its lane nor a delta.
select run_id as n from pawl.trigger('test.flow', limit_key => 'lost') \g /dev/null
delete from pawl_data.lane_delta;
delete from pawl_data.lane where state <> 'f';
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'no claim finds the task');
select is(t.lane_faults(), 'lane that no claim visits', 'as the helper of tests says');
select is((select level || ': ' || found from pawl.doctor() where what = 'lane'), 'error: no claim visits 1 lane of queue test.flow in which runs wait', 'and doctor');
select t.later('11 s', :s) \g /dev/null
select is((select count(*) from pawl_data.lane_delta), 1::bigint, 'housekeeping leaves a delta');
select is((select found from pawl.doctor() where what = 'lane'), null, 'nothing is wrong any more');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'and a claim finds the task');
-- More lanes than one piece has.
select count(*) from generate_series(1, 501) n, lateral pawl.trigger('test.flow', limit_key => 'k' || n) \g /dev/null
delete from pawl_data.lane_delta;
select t.later('11 s', :s) \g /dev/null
select t.later('1 s', :s) \g /dev/null
select is((select count(*) from pawl_data.lane_delta), 501::bigint, 'each piece goes on where the last ended');
select * from finish();
