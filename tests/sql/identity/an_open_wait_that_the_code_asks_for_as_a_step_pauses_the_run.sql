-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'sleep', 'a#1', null, '{"ms": 60000}', 1), 'ok', 'a sleep that has begun');
select results_eq(format('select answer, reason from t.item(%s, %L, %s, ''step'', ''a#1'', ''1'', null, 1)', :s, :'r', :f), $$values ('refused', 'drift')$$, 'asked for as a step');
select is(t.state(:'r'), 'PAUSED drift', 'the run is paused');

select * from finish();
