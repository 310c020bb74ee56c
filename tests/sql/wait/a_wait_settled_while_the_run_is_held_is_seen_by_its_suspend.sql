-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'event', 'ev#1', null, '{"topic": "x"}'), 'ok', 'a wait is open');
select is((select woken from pawl.emit('x', '{"a": 1}')), 1, 'the event comes before the worker has let go');
select is(t.state(:'r'), 'RUNNING', 'the run is still held');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'now the worker lets go');
select is(t.state(:'r'), 'QUEUED', 'and the run does not wait for what has come');
select is((select record #>> '{steps,0,output,a}' from t.one(:s)), '1', 'the next claim has the event');
select * from finish();
