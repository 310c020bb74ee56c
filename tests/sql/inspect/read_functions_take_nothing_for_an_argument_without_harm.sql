-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select is((select count(*) from pawl.list_runs(null, null, null, null, null, null, null, null)), 0::bigint, 'list_runs');
select is((select count(*) from pawl.list_waits(null, null, null, null, null)), 0::bigint, 'list_waits');
select is((select count(*) from pawl.list_queues(null)), 0::bigint, 'list_queues');
select is((select count(*) from pawl.list_workers(null, null)), 0::bigint, 'list_workers');
select is((select count(*) from pawl.metrics(null, null)), 0::bigint, 'metrics');
select is((select count(*) from pawl.list_actions(null, null)), 0::bigint, 'list_actions');
select is((select count(*) from pawl.list_workflows(null, null, null)), 0::bigint, 'list_workflows');
select is((select count(*) from pawl.list_events(null, null, null, null, null, null, null)), 0::bigint, 'list_events');
select is((select count(*) from pawl.list_schedules(null, null, null, null, null)), 0::bigint, 'list_schedules');
select is((select count(*) from pawl.list_failures(null, null, null, null, null)), 0::bigint, 'list_failures');
select is((select count(*) from pawl.find(null, null, null)), 0::bigint, 'find');
select is((select count(*) from pawl.list_states(null)), 0::bigint, 'list_states');
select is((select count(*) from pawl.list_ended(pawl.now(), null, null, null, null)), 0::bigint, 'list_ended');
select * from finish();
