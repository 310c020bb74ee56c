-- SPDX-License-Identifier: Apache-2.0
select plan(19);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, input => '{"in": 1}') \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'good#1', 'payload', '"kept"', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step_error', 'name', 'bad#1', 'payload', '{"message": "boom"}', 'seq', 2))), 'ok ok', 'one step succeeds, one fails');
select is((select answer || ' ' || (value ->> 'state') from pawl.step(:s, :'r', :f, 'bad', '2')), 'already ERROR', 'within the round the failure stands');
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}', true)), 'ok', 'the run fails');
select is((select answer from pawl.retry(array[:'r'::uuid], 'ann')), 'ok', 'the next round');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'already', 'twice: already');
select is(t.state(:'r'), 'QUEUED', 'the same run is queued');
select fence as f2, round, record, input from t.one(:s) \gset
select is(:'round'::int, 2, 'round 2');
select cmp_ok(:f2, '>', :f, 'the fence goes on');
select is(:'input'::text, '{"in": 1}', 'with its input');
select is((select string_agg(e ->> 'name' || ' ' || (e ->> 'state'), ', ') from json_array_elements(:'record'::json -> 'steps') e), 'good#1 SUCCESS', 'the failure is not handed out');
select is((select answer || ' ' || (value ->> 'output') from pawl.step(:s, :'r', :f2, 'good', '"other"')), 'already kept', 'success stays valid');
select is((select answer from pawl.step(:s, :'r', :f2, 'bad', '2')), 'ok', 'the failed step may succeed now');
select is((select answer from pawl.complete(:s, :'r', :f2, '"done"')), 'ok', 'the run ends');
select is(t.state(:'r'), 'SUCCESS', 'well');
select is((select string_agg(round || ' ' || (detail ->> 'status'), ', ' order by round) from pawl.history(:'r') where what = 'ended'), '1 ERROR, 2 SUCCESS', 'the earlier round stays in history');
select is((select string_agg(e ->> 'name' || ' ' || (e ->> 'round') || ' ' || (e ->> 'state'), ', ' order by e ->> 'name', e ->> 'round') from pawl.get_run(:'r') g, json_array_elements(g.steps) e),
    'bad#1 1 ERROR, bad#1 2 SUCCESS, good#1 1 SUCCESS', 'and so does its failure');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'refused', 'a run that ended SUCCESS is not retried');
select is((select answer from pawl.retry(array[gen_random_uuid()])), 'not_found', 'an unknown one is not found');
select is((select who from pawl.history(:'r') where what = 'retry'), 'ann', 'the history says who');
select * from finish();
