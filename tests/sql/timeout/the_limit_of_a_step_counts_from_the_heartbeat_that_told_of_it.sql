-- SPDX-License-Identifier: Apache-2.0
-- A claim renews the lease of a session, too, when there are new queues or the lease was over.
select plan(4);

select t.session(lease => '1 day') as s \gset
select run_id as r from t.held(:s) \gset
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'slow#1', 'started_ms', 1000, 'timeout_ms', 60000))) \g /dev/null
select t.later('40 s') \g /dev/null
select pawl.now() - interval '41 s' as began \gset
select pawl.create_workflow('test.new') \g /dev/null
select count(*) from pawl.claim(:s, 10) \g /dev/null
select is((select (steps -> 0 ->> 'started_at')::timestamptz from pawl.get_run(:'r')), :'began', 'a step that lasts began when it was told to have');
select t.later('23 s') \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'before its limit and five seconds it is the worker''s');
select t.later('2 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'then the engine takes the task, whoever has claimed since');
select is(t.audit(:'r'), 'step_timeout', 'as the audit says');

select * from finish();
