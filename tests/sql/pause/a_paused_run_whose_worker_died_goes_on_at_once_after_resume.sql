-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session(lease => '5 s') as s \gset
select t.session(lease => '1 hour') as s2 \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'event', 'a/w#1', null, '{"topic": "x"}'), 'ok', 'one branch waits, another works');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select t.later('1 min', :s2);
select is(t.state(:'r'), 'PAUSED operator', 'the worker is lost, the run stays paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is(t.state(:'r'), 'QUEUED', 'the branch that worked can go on');
select * from finish();
