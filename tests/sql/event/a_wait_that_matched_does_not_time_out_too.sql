-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid', timeout => '1 min')), 'ok', 'waits for a minute');
select is((select woken from pawl.emit('paid', '{"n": 1}')), 1, 'the event comes in time');
select t.later('2 min', :s);
select is((select record #>> '{steps,0,state}' from t.one(:s)), 'SUCCESS', 'matched');
select is((select count(*) from pawl_data.step where run_id = :'r'), 1::bigint, 'one record');
select * from finish();
