-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'large#1', 'payload', to_json(repeat('x', 40000))::text, 'seq', 1),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'step', 'name', 'small#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'complete', 'payload', '[' || repeat('{},', 100) || '{}]'))),
    'ok ok ok ok', 'what is not plain is taken with what is');
select is(array[t.state(:'a'), t.state(:'b')], '{SUCCESS,SUCCESS}', 'both have ended');

select * from finish();
