-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 day')), 'ok', 'it sleeps');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused by an operator');
select is((select answer from pawl.cancel(array[:'r'::uuid], rollback => true)), 'ok', 'then cancelled');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'retry', 'rollback:pay#1', '{}', '{"policy": {"base_ms": 1000, "jitter": 0}}'), 'ok', 'the undo must try again');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'later');
select is(t.state(:'r'), 'PAUSED retry', 'it waits for its retry, not for the operator');
select * from finish();
