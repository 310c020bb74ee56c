-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select json_build_array(
    json_build_object('run', :'a', 'fence', :af, 'kind', 'step', 'name', 'x#1', 'payload', '{"open": ', 'seq', 1),
    json_build_object('run', :'a', 'fence', :af, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'step', 'name', 'x#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'b', 'fence', :bf, 'kind', 'complete', 'payload', '2')) as items \gset
select throws_ok(format('select t.answers(%s, %L)', :s, :'items'), '22P02', null, 'the set-wise form fails as a whole');
select is(array[t.state(:'a'), t.state(:'b')], '{RUNNING,RUNNING}', 'and has done nothing');
select is(t.answers(:s, :'items', true), 'refused busy ok ok', 'commit_each refuses the bad item and holds up what follows it in its run');
select is(array[t.state(:'a'), t.state(:'b')], '{RUNNING,SUCCESS}', 'the other run has ended');
select is(t.answer(:s, :'a', :af, 'fail', null, '{"code": "bad_output"}', '{"final": true}'), 'ok', 'the run of the bad item can be failed');
select is(t.state(:'a'), 'ERROR', 'so it is not stuck');

select * from finish();
