-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'fails');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{}')), 'ok', 'so does the undo');
select pawl.test_clock_advance('1 min') \gset
select is(pawl.why(:'r'), 'It ended ERROR 60 s ago because an undo failed; not undone: ["pay#1"]; use pawl.rollback_retry or pawl.rollback_skip.', 'exactly');
select * from finish();
