-- SPDX-License-Identifier: Apache-2.0
-- An underscore in a name is no wildcard.
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'axb#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a_b#1', 'payload', '2', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a_b#2', 'payload', '3', 'seq', 3),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'))), 'ok ok ok ok', 'three steps');
select is((select copied from pawl.fork(:'r', 'a_b')), 1, 'from the first of that name');
select is((select copied from pawl.fork(:'r', 'a_b#2')), 2, 'from the second');
select is((select copied from pawl.fork(:'r')), 0, 'from the beginning');
select is((select answer from pawl.fork(:'r', 'no-such')), 'no_such_step', 'from a step that is not there');
select is((select answer from pawl.fork(gen_random_uuid(), 'a_b')), 'not_found', 'from a run that is not there');
select * from finish();
