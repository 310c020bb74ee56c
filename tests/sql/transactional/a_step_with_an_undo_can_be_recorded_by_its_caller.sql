-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'debit#1', null, '{"undo": {"handler": "credit"}}', 1), 'ok', 'the step has started');
select is(pawl.record_step(pawl.step_token(:s, :'r', :f, 'debit#1'), '10'), 'ok', 'its caller records it');
select is(pawl.record_step(pawl.step_token(:s, :'r', :f, 'debit#1'), '11'), 'already', 'once');
select is((select e ->> 'state' || ' ' || (e ->> 'output') from pawl.get_run(:'r') g, json_array_elements(g.steps) e), 'SUCCESS 10', 'it has succeeded');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'the run fails');
select is((select record #>> '{undos,0,uncertain}' from t.one(:s)), 'false', 'and its undo knows that the step succeeded');
select * from finish();
