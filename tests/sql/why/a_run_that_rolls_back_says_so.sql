-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'fails');
select is(pawl.why(:'r'), 'It is queued to roll back for 0 s: nothing is in queue test.flow before it, and live workers handle the queue.', 'queued');
select fence as f from t.one(:s) \gset
select is(pawl.why(:'r'), 'It is rolled back by worker web-3, whose lease is live for 30 s more.', 'held');
select * from finish();
