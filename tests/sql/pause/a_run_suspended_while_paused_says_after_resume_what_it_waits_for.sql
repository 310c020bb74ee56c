-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused while held');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x')), 'ok', 'then it waits for an event');
select is(t.state(:'r'), 'PAUSED operator', 'paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is(t.state(:'r'), 'PAUSED event', 'it waits for the event');
select is((select woken from pawl.emit('x')), 1, 'the event comes');
select is(t.state(:'r'), 'QUEUED', 'and it goes on');
select * from finish();
