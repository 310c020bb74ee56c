-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid', timeout => '1 min')), 'ok', 'waits for a minute');
select t.later('1 min', :s);
select fence as f, record from t.one(:s) \gset
select is(:'record'::json #>> '{steps,0,error,code}', 'timeout', 'timed out');
select is((select woken from pawl.emit('paid', '{"n": 1}')), 0, 'the event comes too late');
select is((select value #>> '{error,code}' from pawl.wait_event(:s, :'r', :f, 'w', 'paid')), 'timeout', 'asked again the answer is the same');
select is((select value ->> 'state' from pawl.wait_event(:s, :'r', :f, 'next', 'paid')), 'SUCCESS', 'the next wait takes the event');
select * from finish();
