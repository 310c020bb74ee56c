-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('18 s') \gset
select is(pawl.why(:'r'), 'Running on worker web-3 (lease valid for 12 s).', 'exactly');
select lease_until from pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'pay#1', 'started_ms', 1500))) \gset
select is(pawl.why(:'r'), 'Running step pay#1 on worker web-3 (lease valid for 30 s).', 'in a step that lasts');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select is(pawl.why(:'r'), 'Running step pay#1 on worker web-3 (lease valid for 30 s); pauses after this step.', 'about to pause');
select t.run() as r2 \gset
select count(*) as n from pawl.claim(:s, 1, start => false) \gset
select is(pawl.why(:'r2'), 'Claimed, not started yet, on worker web-3 (lease valid for 30 s).', 'claimed ahead');
select * from finish();
