-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'fails');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{}')), 'ok', 'so does the undo');
select pawl.test_clock_advance('1 min') \gset
select is(pawl.why(:'r'), 'Ended ERROR 60 s ago: an undo failed. Not undone: ["pay#1"]. Fix the cause and call pawl.rollback_retry(), or skip it with pawl.rollback_skip().', 'exactly');
select * from finish();
