-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '"first"'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '"second"')) as items \gset
select throws_ok(format('select t.answers(%s, %L)', :s, :'items'), 'PW010', null, 'commit asks for commit_each');
select is(t.state(:'r'), 'RUNNING', 'and has done nothing');
select is(t.answers(:s, :'items', true), 'ok already', 'a round ends once');
select is((select output #>> '{}' from pawl.result(:'r')), 'first', 'with the first output');

select * from finish();
