-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'sleep', 'pause#1', null, '{"ms": 1000}'), 'ok', 'a sleep is open');
select is((select answer || ' ' || reason from t.item(:s, :'r', :f, 'event', 'pause#1', null, '{"topic": "x"}')), 'refused drift', 'the code now asks for an event');
select is(t.state(:'r'), 'PAUSED drift', 'the run is paused');
select matches(pawl.why(:'r'), 'drift: step pause#1 is recorded as sleep, the code asks for event', 'and says so');
select * from finish();
