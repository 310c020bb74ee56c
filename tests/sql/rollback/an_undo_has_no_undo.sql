-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'its run fails');
select fence as f from t.one(:s) \gset
select is((select answer || ': ' || reason from t.item(:s, :'r', :f, 'begin', 'rollback:pay#1', null, '{"undo": {"handler": "refund"}}')),
    'refused: an undo has no undo of its own', 'nobody could undo the undo');
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'rollback:pay#1', 'payload', '{}'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete'))), 'ok ok', 'it is executed as a step');
select * from finish();
