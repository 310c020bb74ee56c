-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'slow#1', 'started_ms', 0, 'timeout_ms', 60000))) \g /dev/null
select t.later('1 min') \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'at its limit the worker is to stop it');
select t.later('6 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'if it did not, the engine takes the task');
select is(t.audit(:'r'), 'step_timeout', 'as the audit says');
select is(t.answer(:s, :'r', :f, 'step', 'slow#1', '1', null, 1), 'lease_lost', 'the late result is not taken');
select fence as f from t.one(:s) \gset
select pawl.housekeep() \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'who claims it now is not blamed for the old heartbeat');

select * from finish();
