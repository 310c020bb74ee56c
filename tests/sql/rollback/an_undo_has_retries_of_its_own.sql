-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'the run fails');
select fence as f from t.one(:s) \gset
select is((select answer || ' ' || (value ->> 'final') from t.item(:s, :'r', :f, 'retry', 'rollback:pay#1', '{"message": "down"}', '{"policy": {"max_attempts": 2, "base_ms": 5000, "jitter": 0}}')), 'ok false', 'the undo fails and may try again');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the worker lets go');
select is(t.state(:'r'), 'PAUSED retry', 'it waits for the retry');
select t.later('5 s', :s);
select fence as f, record from t.one(:s) \gset
select is(:'record'::json #>> '{retries,rollback:pay#1,n}', '1', 'the next claim knows of the failed try');
select is((select answer from pawl.step(:s, :'r', :f, 'rollback:pay')), 'ok', 'this time it works');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'and the rollback ends');
select is(t.state(:'r'), 'ERROR', 'ended');
select * from finish();
