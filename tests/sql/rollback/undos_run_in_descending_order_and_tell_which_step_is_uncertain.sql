-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'book#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'unbook', 'input', 1))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'book#1', 'payload', '"booked"', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'plain#1', 'payload', '1', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'pay#1', 'seq', 3, 'option', json_build_object('undo', json_build_object('handler', 'refund', 'input', 3))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step_error', 'name', 'pay#1', 'payload', '{"message": "declined"}', 'seq', 3),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'ship#1', 'seq', 4, 'option', json_build_object('undo', json_build_object('handler', 'recall', 'input', 4))))),
    'ok ok ok ok ok ok', 'one succeeded, one failed, one has only started');
select is((select string_agg(e ->> 'name' || ' ' || (e ->> 'state'), ', ') from pawl.get_run(:'r') g, json_array_elements(g.steps) e),
    'book#1 SUCCESS, plain#1 SUCCESS, pay#1 ERROR, ship#1 RUNNING', 'a step with an undo is stored when it starts');
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "declined"}', true)), 'ok', 'the run fails');
select is(t.state(:'r'), 'QUEUED', 'it does not end yet');
select is((select rolling_back from pawl.get_run(:'r')), true, 'it rolls back');
select fence as f, record, rolling_back from t.one(:s) \gset
select is(:'rolling_back'::boolean, true, 'the claim says so');
select is((select string_agg(concat_ws(' ', u ->> 'name', u #>> '{undo,handler}', u #>> '{undo,input}', u ->> 'uncertain', u ->> 'output'), ', ') from json_array_elements(:'record'::json -> 'undos') u),
    'ship#1 recall 4 true, pay#1 refund 3 true, book#1 unbook 1 false booked', 'newest first, each told whether it is uncertain, with its argument');
select is((select answer || ': ' || reason from pawl.step(:s, :'r', :f, 'more')), 'refused: the run is rolling back: only its undos are recorded', 'no forward step is recorded any more');
select is((select answer from pawl.complete(:s, :'r', :f)), 'refused', 'it cannot end before its undos');
select is((select notice from pawl.heartbeat(:s)), null, 'a worker that rolls back is not told to stop');
select is((select notice from pawl.held(:s)), null, 'nor when it lists what it holds');
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'rollback:ship#1', 'payload', '1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'rollback:pay#1', 'payload', '2'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'rollback:book#1', 'payload', '3'))), 'ok ok ok', 'the undos are recorded');
select is((select answer || ' ' || (value ->> 'output') from pawl.step(:s, :'r', :f, 'rollback:pay#1', '9')), 'already 2', 'each once');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'now it ends');
select is(t.state(:'r'), 'ERROR', 'with the outcome it was to have');
select is((select error ->> 'message' from pawl.get_run(:'r')), 'declined', 'and the error it had');
select * from finish();
