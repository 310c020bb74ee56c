-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '{"v": 1}', null, 1), 'ok', 'the first time');
select value::text as held from pawl.step(:s, :'r', :f, 'a', '{"v": 2}') \gset
select is(:'held'::json ->> 'state', 'SUCCESS', 'while it is held');
select is((:'held'::json -> 'output')::text, '{"v": 1}', 'the first write wins');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'the run ends');
select is((select value::text from pawl.step(:s, :'r', :f, 'a', '{"v": 2}')), :'held', 'the same answer after the end');

select * from finish();
