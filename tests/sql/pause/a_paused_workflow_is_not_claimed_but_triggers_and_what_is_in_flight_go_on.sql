-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.run('other.flow') as o \gset
select is(pawl.pause_workflow('test.flow', 'deploy', 'ann'), 'ok', 'paused');
select is(pawl.pause_workflow('test.flow'), 'already', 'twice: already');
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a step in flight is recorded');
select t.run() as r2 \gset
select is(t.state(:'r2'), 'QUEUED', 'triggers are accepted, and no run is changed');
select is((select string_agg(run_id::text, ' ') from pawl.claim(:s, 10)), :'o', 'a claim gets the other workflow only');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'what is in flight ends');
select is((select paused from pawl.list_queues() where queue = 'test.flow'), true, 'the overview shows it');
select is(pawl.resume_workflow('test.flow'), 'ok', 'resumed');
select is(pawl.resume_workflow('test.flow'), 'already', 'twice: already');
select is((select run_id::text from t.one(:s)), :'r2', 'now it is claimed');
select is((select string_agg(what || ' ' || who, ', ' order by action_no) from pawl.list_actions()), 'pause_workflow ann, resume_workflow ' || session_user, 'both are audited');
select throws_ok($$select pawl.pause_workflow('no.such')$$, 'PW001', null, 'an unknown workflow');
select throws_ok($$select pawl.resume_workflow(null)$$, 'PW001', null, 'no workflow');
select * from finish();
