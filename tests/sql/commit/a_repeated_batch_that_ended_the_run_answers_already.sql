-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '{"v": 1}', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'note', 'name', 'n', 'payload', 'hello'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'nap#1', 'option', json_build_object('ms', 5000), 'seq', 3),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '2')) as items \gset
select is(t.answers(:s, :'items'), 'ok ok ok ok', 'the first time');
select is(t.answers(:s, :'items', each => true), 'already already already already', 'the reply was lost, the same again');
select is(t.audit(:'r'), '', 'nothing is taken for a late result');
select is((select output::text from pawl.result(:'r')), '2', 'the output is the first one');

select * from finish();
