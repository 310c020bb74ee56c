-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x')), 'ok', 'waits');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select is((select woken from pawl.emit('x', '{"n": 1}')), 1, 'the event is stored in the run');
select is(t.state(:'r'), 'PAUSED operator', 'which stays paused');
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'and is not claimed');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is((select record #>> '{steps,0,output,n}' from t.one(:s)), '1', 'it goes on with the event');
select * from finish();
