-- SPDX-License-Identifier: Apache-2.0
-- What is recorded is looked up by number: with 100,000 elements, to compare each with each record would take half a minute.
select plan(3);
select t.session() as s \gset
select pawl.create_flow('l.flow', max_attempts => 1) as c \gset
select pawl.add_step('l.flow', 'each', '{}', '{"map": "run"}') as c \gset
select run_id as r from pawl.trigger('l.flow', (select json_agg(0) from generate_series(1, 30000))) \gset
-- As if all but the first had been done.
insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
select :'r', t.task_no, 1, 's', 's', 1, 1, 0, pawl.now(), pawl.now(), 'each', '1' from pawl_data.task t where t.task_no > 1000001;
delete from pawl_data.task where task_no > 1000001;
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'r', 'each', '{}', 0), 'ok', 'the first fails');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'a next round');
select is((select count(*) from pawl_data.task where task_no > 0)::int + (select missing from pawl_data.gate), 2, 'has one task, and waits for it alone');
select * from finish();
