-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session() as s \gset
select t.session() as other \gset
select run_id as a, fence as af from t.held(:s) \gset
select run_id as b, fence as bf from t.held(:s) \gset
select is((select array_agg(run_id order by run_id) from pawl.held(:s)), array(select u from unnest(array[:'a', :'b']::uuid[]) u order by u), 'two are held');
select is((select count(*) from pawl.held(:other)), 0::bigint, 'nothing by another session');
select is((select answer from pawl.release(:s, :'a', :af)), 'ok', 'one is given back');
select is((select array_agg(run_id) from pawl.held(:s)), array[:'b']::uuid[], 'one is left');
select is(t.state(:'a'), 'QUEUED', 'the other waits again');
select is((select execution from t.one(:other)), 1, 'and its next claim is the first attempt');
select throws_ok('select * from pawl.held(4711)', 'PW005', null, 'a session that does not exist');

select * from finish();
