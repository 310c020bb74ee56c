-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select is((select count(*) from pawl.list_runs(null, null, null, null, null, null, null, null)), 0::bigint, 'list_runs');
select is((select count(*) from pawl.list_waits(null, null, null, null, null)), 0::bigint, 'list_waits');
select is((select count(*) from pawl.list_queues(null)), 0::bigint, 'list_queues');
select is((select count(*) from pawl.list_workers(null, null)), 0::bigint, 'list_workers');
select is((select count(*) from pawl.metrics(null, null)), 0::bigint, 'metrics');
select is((select count(*) from pawl.list_actions(null, null)), 0::bigint, 'list_actions');
select is((select count(*) from pawl.list_workflows(null, null, null)), 0::bigint, 'list_workflows');
select is((select count(*) from pawl.list_events(null, null, null, null, null, null, null)), 0::bigint, 'list_events');
select * from finish();
