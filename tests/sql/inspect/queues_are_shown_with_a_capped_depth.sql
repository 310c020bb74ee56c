-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session(name => 'one') as s \gset
select pawl.create_workflow('test.flow'), pawl.create_workflow('deep.flow') \gset
select t.run() as r \gset
select count(*) as n from pawl.claim(:s, 1) \gset
select t.run() as r2 \gset
select pawl.test_clock_advance('5 s') \gset
select is((select concat_ws(' ', queue, workflow, ready, ready_shown, held, oldest_ready, workers, paused) from pawl.list_queues() where queue = 'test.flow'), 'test.flow test.flow 1 1 1 00:00:05 1 f', 'what is ready, held, and who handles it');
select count(*) as n from pawl.trigger_many('deep.flow', array_fill('1'::json, array[10000])) \gset
select is((select ready || ' ' || ready_shown from pawl.list_queues() where queue = 'deep.flow'), '10000 10000', 'ten thousand');
select count(*) as n from pawl.trigger_many('deep.flow', array_fill('1'::json, array[10])) \gset
select is((select ready || ' ' || ready_shown from pawl.list_queues() where queue = 'deep.flow'), '10001 10k+', 'more are shown as 10k+');
select is(pawl.pause_queue('deep.flow'), 'ok', 'paused');
select is((select paused from pawl.list_queues() where queue = 'deep.flow'), true, 'is shown');
select is((select count(*) from pawl.list_queues(1)), 1::bigint, 'bounded');
select * from finish();
