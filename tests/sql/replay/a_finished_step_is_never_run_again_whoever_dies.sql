-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session(lease => '1 day') as keeper \gset
select t.session(lease => '1 s') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'step', 'a#1', '{"paid": true}', null, 1) \g /dev/null
select t.later('2 s') \g /dev/null
select fence as f2, record from t.one(:keeper) \gset
select is(:'record'::json -> 'steps' -> 0 -> 'output' ->> 'paid', 'true', 'the next worker is handed what was recorded');
select is((select value -> 'output' ->> 'paid' from pawl.step(:keeper, :'r', :f2, 'a', '{"paid": "twice"}')), 'true', 'and cannot record it again');
select is(t.answer(:s, :'r', :f, 'step', 'b#1', '1', null, 2), 'lease_lost', 'the one that was dead cannot go on');
select is(t.answer(:keeper, :'r', :f2, 'complete', null, '"done"'), 'ok', 'the run ends once');
select is(t.answer(:s, :'r', :f, 'complete', null, '"other"'), 'lease_lost', 'not twice');
select is((select output #>> '{}' from pawl.result(:'r')), 'done', 'with the output of who held it');

select * from finish();
