-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select run_id as c, fence as cf from t.held(:s) \gset
select run_id as d, fence as df from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'b', 'fence', :bf - 1, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', pawl.make_id(), 'fence', 1, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'c', 'fence', :cf, 'kind', 'teleport', 'name', 'x#1', 'payload', '1'),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'c', 'fence', :cf, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'d', 'fence', :df, 'kind', 'sleep', 'name', 'nap#1', 'option', json_build_object('ms', 10)),
    json_build_object('run', :'d', 'fence', :df, 'kind', 'suspend'),
    json_build_object('run', null, 'fence', 1, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'b', 'fence', :bf, 'kind', null))),
    'ok lease_lost refused refused ok busy ok ok refused refused', 'ok, stale, unknown run, unknown kind, and what follows from it');
select is(array[t.state(:'a'), t.state(:'b'), t.state(:'c'), t.state(:'d')], array['SUCCESS', 'RUNNING', 'RUNNING', 'PAUSED sleep'],
    'each run is where its own items left it');

select * from finish();
