-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid')), 'ok', 'waits');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select is((select woken from pawl.emit('paid')), 0, 'the event wakes nobody');
select is(t.state(:'r'), 'CANCELLED', 'the run stays cancelled');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'no record was made');
-- While its worker has the run.
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'event', 'w#1', null, '{"topic": "sent"}'), 'ok', 'another waits, and is held');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'it is cancelled');
select is((select woken from pawl.emit('sent')), 0, 'the event does not reach it');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'nothing is recorded');
select * from finish();
