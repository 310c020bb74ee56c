-- SPDX-License-Identifier: Apache-2.0
select plan(8);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'step', 'good#1', '1', null, 1), t.answer(:s, :'r', :f, 'step_error', 'bad#1', '{"code": "x"}', null, 2),
    t.answer(:s, :'r', :f, 'fail', null, '{"code": "x"}', '{"final": true}') \g /dev/null
select is(t.state(:'r'), 'ERROR', 'the first round ends');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'the next one opens');
select fence as f2, round, record from t.one(:s) \gset
select is(:round, 2, 'it is the second');
select cmp_ok(:f2, '>', :f, 'the fence is never reset');
select is((select string_agg(x ->> 'name', ' ') from json_array_elements(:'record'::json -> 'steps') x), 'good#1', 'success records stay valid, the failure does not');
select is(t.answer(:s, :'r', :f2, 'step', 'bad#1', '2', null, 2), 'ok', 'the step is done again');
select is(t.answer(:s, :'r', :f2, 'complete', null, '2'), 'ok', 'and the round ends well');
select is((select count(*) from pawl.history(:'r') where what = 'ended'), 2::bigint, 'both rounds are in history');

select * from finish();
