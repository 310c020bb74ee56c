-- SPDX-License-Identifier: Apache-2.0
select plan(15);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 day')), 'ok', 'it sleeps');
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough', rollback => true)), 'ok', 'cancelled with rollback');
select is(t.state(:'r'), 'QUEUED', 'not ended yet');
select is((select count(*) from pawl_data.wait), 0::bigint, 'it waits for nothing else');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'already', 'twice: already');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'rollback:pay')), 'ok', 'undone');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'it ends');
select is(t.state(:'r'), 'CANCELLED', 'CANCELLED');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'refused', 'no retry after an undo has run');
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'another');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled without rollback, while held');
select is((select answer from pawl.complete(:s, :'r', :f)), 'cancelled', 'the worker lets go');
select is(t.state(:'r'), 'CANCELLED', 'ended at once');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'so it may be retried');
select * from finish();
