-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.stop_clock() \gset
select t.session() as s \gset
select pawl.create_workflow('test.flow', run_timeout => '10 min') \gset
select run_id as r from pawl.trigger('test.flow', delay => '2 days') \gset
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[])), 'ok', 'woken');
select is(t.state(:'r'), 'QUEUED', 'it can be claimed');
select is((select run_timeout_ms from t.one(:s)), 600000::bigint, 'and has the time that it would have had');
select is(t.audit(:'r'), 'wake', 'the audit has it');
-- A flow has its delay in its first tasks; a step may have one of its own.
select t.flow('f.flow', '[["a"], ["z"], ["b", "a"]]') \gset
select pawl.alter_workflow('f.flow', '{"run_timeout": "10 min"}') \gset
select run_id as f from pawl.trigger('f.flow', delay => '2 days') \gset
select is((select string_agg(answer, ' ') from pawl.wake(array[:'f']::uuid[])), 'ok', 'a flow is woken');
select is((select string_agg(w.due_at::text, ' ') from pawl_data.wait w where w.run_id = :'f' and w.name = 'timeout'), (pawl.now() + interval '10 min')::text, 'with its whole time limit');
select is((select string_agg(task_no || ' ' || place::text, ', ' order by task_no) from pawl_data.task where run_id = :'f'), '0 o, 1000000 r, 2000000 r', 'its first tasks are ready');
select is(pawl.why(:'f') ~ '^Step a [(]1 of 2 open tasks[)]: queued', true, 'and shown so');
-- A run that has started, and that a claim has put off.
update pawl_data.task set place = 'w', due_at = pawl.now() + interval '1 min', reason = 'delay' where run_id = :'r';
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[])), 'ok', 'a run that has started and was put off is woken');
select is((select w.due_at from pawl_data.wait w where w.run_id = :'r' and w.name = 'timeout'), pawl.now() + interval '10 min', 'and keeps its limit');
select * from finish();
