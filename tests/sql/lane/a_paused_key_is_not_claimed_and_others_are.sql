-- SPDX-License-Identifier: Apache-2.0
select plan(19);
select t.limited('test.flow', 2) \g /dev/null
select t.session(name => 'web-3') as s \gset
select count(*) from unnest('{acme,beta}'::text[]) k, generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => k) \gset
select count(*) from pawl.claim(:s, 1) \gset
-- In the rotation, with room.
select to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS') as at \gset
select is(pawl.pause_lane('test.flow', 'acme', 'an audit', 'ada'), 'ok', 'a key is paused');
select is(pawl.pause_lane('test.flow', 'acme'), 'already', 'once');
select is((select array_agg(distinct t.limit_key) from pawl.claim(:s, 100) c join pawl_data.task t using (run_id)), '{beta}', 'claims get others');
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'and then nothing');
select is((select ready from pawl.rest(:s)), false, 'rest reports nothing to claim');
select run_id as r from pawl.trigger('test.flow', limit_key => 'acme') \gset
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'a new run does not open it');
select is(pawl.why(:'r'), 'Queued, but ada paused limit key "acme" of workflow test.flow at ' || :'at' || ': an audit. Resume it with pawl.resume_lane().', 'why names who has paused it');
select is((select reason from pawl.list_lanes('test.flow', only_key => 'acme')), 'ada paused limit key "acme" of workflow test.flow at ' || :'at' || ': an audit. Resume it with pawl.resume_lane()', 'so does the list');
select is((select paused from pawl.list_lanes('test.flow', only_key => 'beta')), false, 'the other is not');
-- What is held ends; what becomes ready again waits.
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' and limit_key = 'acme') h, lateral pawl.release(:s, run_id, fence) \gset
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'a released run waits, too');
update pawl_data.chore set due_at = '-infinity' where chore = 'lanes' \g /dev/null
select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'housekeeping opens nothing');
select is(t.lane_faults(), 'none', 'lanes fit');
-- The limit of the lane is kept over a pause.
select is(pawl.set_lane('test.flow', 'acme', 1), 'ok', 'a limit may be set in the meantime');
select is(pawl.resume_lane('test.flow', 'acme'), 'ok', 'it is resumed');
select is(pawl.resume_lane('test.flow', 'acme'), 'already', 'once');
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'and claimed at once, within its limit');
-- A suspect is of its lane.
select pawl.pause_lane('test.flow', 'gone') \g /dev/null
select run_id as u from pawl.trigger('test.flow', limit_key => 'gone') \gset
update pawl_data.task set place = 's', crashes = 2 where run_id = :'u';
delete from pawl_data.lane_task where run_id = :'u';
select t.session(name => 'quiet') as q \gset
select is((select count(*) from pawl.claim(:q, 1, quiet => true) where run_id = :'u'), 0::bigint, 'no suspect of a paused key is claimed');
select pawl.resume_lane('test.flow', 'gone') \g /dev/null
select is((select count(*) from pawl.claim(:q, 1, quiet => true) where run_id = :'u'), 1::bigint, 'until it is resumed');
select is((select count(*) from pawl.list_actions() where what in ('pause_lane', 'resume_lane')), 4::bigint, 'the log has each');
select * from finish();
