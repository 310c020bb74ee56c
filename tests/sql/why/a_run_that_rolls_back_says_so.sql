-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'fails');
select is(pawl.why(:'r'), 'Rollback queued for 0 s: nothing is ahead of it in queue test.flow. Live workers handle the queue.', 'queued');
select fence as f from t.one(:s) \gset
select is(pawl.why(:'r'), 'Rolling back on worker web-3 (lease valid for 30 s).', 'held');
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'rollback:pay#1', 'payload', '{}'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete'))), 'ok ok', 'it is undone');
select is(pawl.why(:'r'), 'Ended ERROR 0 s ago: {}. Its steps were rolled back, so it cannot be retried. Start a new run with pawl.fork().', 'and cannot be tried again');
select * from finish();
