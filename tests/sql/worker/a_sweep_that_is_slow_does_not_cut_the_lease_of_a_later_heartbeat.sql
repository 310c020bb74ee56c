-- SPDX-License-Identifier: Apache-2.0
-- A worker counts on its lease from when it sent its heartbeat, so the engine must not end it earlier.
select plan(2);

select t.session(lease => '1 s') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.now() as began \gset
select t.later('300 ms', :s) \g /dev/null
select lease_until as until from pawl_data.worker where session_id = :s \gset
-- A round of housekeeping that began before the heartbeat comes to its sweep only now.
select pawl._sweep(:'began', 500, null, false) \g /dev/null
select is((select lease_until from pawl_data.worker where session_id = :s), :'until', 'the lease is what the heartbeat made it');
select t.later('990 ms') \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'and lasts that long');

select * from finish();
