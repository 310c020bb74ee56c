-- SPDX-License-Identifier: Apache-2.0
-- commit and commit_each answer alike.
select plan(9);

select t.session() as s \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'late#1', 'payload', '1', 'seq', 2),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'complete', 'payload', '1'))),
    'ok ok ok lease_lost ok', 'a step behind the end of its run is late');
select is((select string_agg(name, ' ') from pawl_data.step where run_id = :'a'), 'x#1', 'and not recorded');
select is(t.audit(:'a'), 'late_result', 'a late result is an audit row');
select is(t.state(:'a'), 'SUCCESS', 'the run has ended as it was told');
select is(t.state(:'b'), 'SUCCESS', 'so has its neighbour');

select t.flow('test.graph', '[["one"], ["two", "one"]]') \g /dev/null
select run_id as c from pawl.trigger('test.graph') \gset
select task as ct, fence as cf from t.one(:s) \gset
select is((select string_agg(answer, ' ' order by item) from pawl.commit(:s, array[:'c', :'c']::uuid[], array[:cf, :cf], '{complete,step}',
    '{NULL,late#1}', '{1,1}', '{NULL,1}', array[:ct, :ct])), 'ok lease_lost', 'the task of a flow');
select is((select count(*) from pawl_data.step where run_id = :'c' and name = 'late#1'), 0::bigint, 'takes nothing behind its end either');

select t.session('{test.other}') as s \gset
select run_id as d, fence as df from t.held(:s, 'test.other') \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'d', 'fence', :df, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'d', 'fence', :df, 'kind', 'note', 'payload', '"said"'))), 'ok already', 'a note behind the end');
select is(t.state(:'d'), 'SUCCESS', 'changes nothing');

select * from finish();
