-- SPDX-License-Identifier: Apache-2.0
-- An operator may ask for it while the run still lives, and it ends in between: what counts is what it has ended as.
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 day')), 'ok', 'it sleeps');
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough')), 'ok', 'cancelled without rollback');
select is(pawl._open_round(:'r', pawl.now(), 'op', true), 'refused', 'no round that rolls back is opened for it');
select is((select answer from pawl.rollback_retry(array[:'r'::uuid])), 'refused', 'nor by the verb');
