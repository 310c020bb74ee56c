-- SPDX-License-Identifier: Apache-2.0
select plan(18);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'a#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'ua'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'b#1', 'seq', 2, 'option', json_build_object('undo', json_build_object('handler', 'ub'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'c#1', 'seq', 3, 'option', json_build_object('undo', json_build_object('handler', 'uc'))))), 'ok ok ok', 'three steps');
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}', true)), 'ok', 'the run fails');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'rollback:c')), 'ok', 'the first undo works');
select is(t.answer(:s, :'r', :f, 'step_error', 'rollback:b#1', '{"message": "gone"}'), 'ok', 'the second fails for good');
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "gone"}')), 'ok', 'the rollback stops');
select is(t.state(:'r'), 'ERROR', 'the run has ended');
select is((select error ->> 'code' || ' ' || (error ->> 'not_undone') || ' ' || (error #>> '{error,message}') || ' ' || (error #>> '{cause,message}') from pawl.get_run(:'r')),
    'rollback_failed ["b#1", "a#1"] gone boom', 'its error lists what was not undone, and carries the cause');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'refused', 'retry is refused, because an undo has run');
select is((select answer from pawl.rollback_retry(array[:'r'::uuid])), 'ok', 'rollback_retry opens a round that only rolls back');
select is((select answer from pawl.rollback_retry(array[:'r'::uuid])), 'already', 'twice: already');
select fence as f, record, rolling_back, round from t.one(:s) \gset
select is(:'round'::int, 2, 'its second round');
select is((select string_agg(u ->> 'name', ' ') from json_array_elements(:'record'::json -> 'undos') u), 'b#1 a#1', 'with the undos that are left');
select is((select answer from pawl.step(:s, :'r', :f, 'forward')), 'refused', 'nothing else is recorded');
select is((select string_agg(answer, ' ') from unnest(array['rollback:b', 'rollback:a']) n, lateral pawl.step(:s, :'r', :f, n) x), 'ok ok', 'now they work');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'the rollback ends');
select is(t.state(:'r') || ' ' || (select error ->> 'message' from pawl.get_run(:'r')), 'ERROR boom', 'with the cause as its error');
select is((select answer from pawl.rollback_retry(array[:'r'::uuid])), 'refused', 'nothing is stuck any more');
select is((select answer from pawl.fork(:'r')), 'ok', 'a fork is possible');
select * from finish();
