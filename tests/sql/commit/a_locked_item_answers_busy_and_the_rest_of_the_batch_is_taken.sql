-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select t.other_holds(format('select run_id::text from pawl_data.task where run_id = %L for update', :'a')) \g /dev/null
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'complete', 'payload', '1'))),
    'busy ok busy ok', 'only the items of the locked run are not taken');
select is(t.state(:'b'), 'SUCCESS', 'the other run has ended');
select t.other_done() \g /dev/null
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'complete', 'payload', '1'))),
    'ok ok', 'sent again when the lock is gone, they are taken');
select is(t.state(:'a'), 'SUCCESS', 'and the run has ended');
select * from finish();
