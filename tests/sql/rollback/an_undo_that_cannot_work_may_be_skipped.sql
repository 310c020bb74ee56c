-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'a#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'ua'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'b#1', 'seq', 2, 'option', json_build_object('undo', json_build_object('handler', 'ub'))))), 'ok ok', 'two steps');
select is(pawl.rollback_skip(:'r', 'b#1'), 'refused', 'nothing to skip while it goes forward');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'the run fails');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "gone"}')), 'ok', 'the rollback stops');
select is(pawl.rollback_skip(:'r', 'no-such#1'), 'refused', 'a step that has no undo');
select is(pawl.rollback_skip(:'r', 'b#1', 'done by hand', 'ann'), 'ok', 'skipped');
select is((select string_agg(u ->> 'name', ' ') from t.one(:s) o, json_array_elements(o.record -> 'undos') u), 'a#1', 'the rest is rolled back');
select is((select e ->> 'state' from pawl.get_run(:'r') g, json_array_elements(g.steps) e where e ->> 'name' = 'rollback:b#1'), 'SKIPPED', 'the skipped one is shown');
select is((select who || ' ' || (detail ->> 'why') from pawl.history(:'r') where what = 'rollback_skip'), 'ann done by hand', 'the history says who and why');
select is(pawl.rollback_skip(:'r', 'b#1'), 'already', 'twice: already');
select is(pawl.rollback_skip(gen_random_uuid(), 'b#1'), 'not_found', 'an unknown run');
select is((select answer from pawl.rollback_retry(array[gen_random_uuid()])), 'not_found', 'an unknown run, the other way');
select * from finish();
