-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'recorded as a step');
select results_eq(format('select answer, reason from t.item(%s, %L, %s, ''sleep'', ''a#1'', null, ''{"ms": 5}'')', :s, :'r', :f), $$values ('refused', 'drift')$$, 'asked for as a sleep');
select is(t.state(:'r'), 'PAUSED drift', 'the run is paused');
select matches(pawl.why(:'r'), 'drift: step a#1 is recorded as step, the code asks for sleep', 'and says so');
select is(t.audit(:'r'), 'drift', 'it is in the audit');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'lease_lost', 'who held it holds it no more');

select * from finish();
