-- SPDX-License-Identifier: Apache-2.0
-- A program whose driver opens a transaction for each statement cannot call tick(): it calls housekeep() instead.
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w') \g /dev/null
select pawl.create_subscription('a', 'news', 'w') \g /dev/null
select pawl.emit('news') \g /dev/null
select is((select count(*) from pawl_data.task), 0::bigint, 'an emit starts no run itself');
select pawl.housekeep();
select is((select count(*) from pawl_data.task where key like 'event/a/%'), 1::bigint, 'housekeep() starts the run of an event');
select pawl.housekeep();
select is((select count(*) from pawl_data.task), 1::bigint, 'and none when there is nothing to start');
select * from finish();
