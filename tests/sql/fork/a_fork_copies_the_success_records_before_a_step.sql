-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.session() as s \gset
select pawl.create_workflow('test.flow') as c \gset
select run_id as r from pawl.trigger('test.flow', '{"in": 1}', key => 'k', metadata => '{"m": 1}', priority => 7) \gset
select fence as f from t.one(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'a#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'ua'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step_error', 'name', 'b#1', 'payload', '{}', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'c_d#1', 'payload', '3', 'seq', 3),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'd#1', 'payload', '4', 'seq', 4))), 'ok ok ok ok ok', 'four steps');
select is((select answer from pawl.fork(:'r', 'd')), 'refused', 'a run that is held cannot be forked');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'it ends');
select run_id as k, answer, copied from pawl.fork(:'r', 'd', by => 'ann') \gset
select is(:'answer' || ' ' || :copied, 'ok 2', 'forked, with the successes before step d');
select is((select string_agg(e ->> 'name' || ' ' || (e ->> 'copied_from' = :'r')::text, ', ') from pawl.get_run(:'k') g, json_array_elements(g.steps) e), 'a#1 true, c_d#1 true', 'marked with their source');
select is((select concat_ws(' ', input, metadata, priority, key, status, round) from pawl.get_run(:'k')), '{"in": 1} {"m": 1} 7 QUEUED 1', 'with input, metadata and priority, but no key');
select is((select run_id::text from pawl.trigger('test.flow', '{"in": 1}', key => 'k')), :'r', 'the key stays with the source');
select fence as kf, record from t.one(:s) \gset
select is((select answer || ' ' || (value ->> 'output') from pawl.step(:s, :'k', :kf, 'a', '9')), 'already 1', 'copied steps are not done again');
select is((select answer from pawl.step(:s, :'k', :kf, 'b', '2')), 'ok', 'others are');
select is((select answer from pawl.fail(:s, :'k', :kf, '{}', true)), 'ok', 'the fork fails');
select is(t.state(:'k'), 'ERROR', 'and never undoes what it copied');
select is((select what || ' ' || who from pawl.history(:'k') where what = 'forked_from'), 'forked_from ann', 'its history says where it comes from');
select is((select detail ->> 'run' from pawl.history(:'r') where what = 'forked_to'), :'k', 'that of the source where it went');
select * from finish();
