-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo has started');
select is((select answer from pawl.cancel(array[:'r'::uuid], rollback => true)), 'ok', 'cancelled with rollback');
select is((select answer from pawl.step(:s, :'r', :f, 'pay', '1')), 'cancelled', 'after the cancel no forward record is taken');
select is((select answer from pawl.complete(:s, :'r', :f)), 'cancelled', 'the worker lets go');
select fence as f, record from t.one(:s) \gset
select is(:'record'::json #>> '{undos,0,uncertain}', 'true', 'the step counts as uncertain');
select is((select answer from pawl.step(:s, :'r', :f, 'rollback:pay')), 'ok', 'undone');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'ends');
select is(t.state(:'r'), 'CANCELLED', 'CANCELLED');
select * from finish();
