-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.stop_clock() \gset
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}') || ' ' || t.answer(:s, :'r', :f, 'step', 'pay#1', '1'), 'ok ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', final => true)), 'ok', 'the run fails');
select c.fence as f from t.one(:s) c \gset
select is(t.answer(:s, :'r', :f, 'retry', 'rollback:pay#1', '{}', '{"policy": {"base_ms": 60000, "jitter": 0}}') || ' ' || t.answer(:s, :'r', :f, 'suspend'), 'ok ok', 'and its undo must be repeated');
select is((select concat_ws(' ', answer, reason) from pawl.wake(array[:'r']::uuid[])), 'ok', 'it is woken');
select is((select (c.record #>> '{retries,rollback:pay#1,due}')::timestamptz <= pawl.now() and c.rolling_back from t.one(:s) c), true, 'and may begin');
select is(t.audit(:'r'), 'rollback_started attempt_failed wake', 'the audit has it');
select * from finish();
