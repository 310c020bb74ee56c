-- SPDX-License-Identifier: Apache-2.0
-- A step with an undo that failed in one round and started again in the next has two rows.
select plan(7);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'pay#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'refund', 'input', 1))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step_error', 'name', 'pay#1', 'payload', '{}', 'seq', 1))), 'ok ok', 'it failed');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled without rollback');
select is((select answer from pawl.complete(:s, :'r', :f)), 'cancelled', 'ends');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'the next round');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund", "input": 2}}', 1), 'ok', 'it starts again');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'and the run fails');
select is((select string_agg(u ->> 'name' || ' ' || (u #>> '{undo,input}'), ', ') from t.one(:s) o, json_array_elements(o.record -> 'undos') u), 'pay#1 2', 'one undo, the newest');
select * from finish();
