-- SPDX-License-Identifier: Apache-2.0
select plan(8);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'x#1', '1', null, 100000), 'ok', 'the last number');
select is(t.answer(:s, :'r', :f, 'step', 'x#2', '1', null, 100001), 'refused', 'the next');
select ok((select reason like 'a run records at most 100000 steps%' from t.item(:s, :'r', :f, 'step', 'x#2', '1', null, 100001)), 'it says why');
select is(t.answer(:s, :'r', :f, 'sleep', 'x#3', null, '{"ms": 1}', 100001), 'refused', 'a wait');
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'x#4', 'payload', '1', 'seq', 100001),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1')), true), 'refused busy', 'by commit_each');
select throws_ok(format('select pawl.record_step(pawl.step_token(%s, %L, %s, %L, 100001))', :s, :'r', :f, 'x#5'), 'PW003', null,
    'in a transaction of its own');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 1, 'nothing else is recorded');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it can end');

select * from finish();
