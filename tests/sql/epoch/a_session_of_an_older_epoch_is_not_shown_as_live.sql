-- SPDX-License-Identifier: Apache-2.0
-- Nobody has swept it yet, and its lease has an hour left; but none of its calls is accepted.
select plan(10);
select pawl.housekeep() \g /dev/null
select t.session(lease => '1 h', name => 'web-3') as s \gset
select t.run() as q \gset
select run_id as r from t.one(:s) \gset
select t.run() as q \gset
select is(t.state(:'r'), 'RUNNING', 'held');
select count(*) from pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'a#1', 'attempt', 1, 'started_ms', 5))) \g /dev/null
select is((select steps -> 0 ->> 'state' from pawl.get_run(:'r')), 'RUNNING', 'and so is its step');
select pawl.raise_epoch('failover') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'nobody works on it');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 0, 'nor on a step of it');
select is(pawl.why(:'r'), 'Queued: worker web-3 lost it when its session ended, and no worker takes runs of test.flow now. Start one.', 'which is told');
select is(pawl.why(:'q'), 'Queued, but the last worker for test.flow, web-3, was last seen 0 s ago. Start one.', 'nobody takes another one');
select is((select state from pawl.list_workers()), 'lost', 'the worker is lost');
select is((select workers from pawl.list_queues()), 0, 'it does not count with the queue');
select is((select workers from pawl.list_workflows()), 0, 'nor with the workflow');
select is((select found from pawl.doctor() where what = 'workers'), '0 live', 'nor for the doctor');
select * from finish();
