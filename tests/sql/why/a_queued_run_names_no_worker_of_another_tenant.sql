-- SPDX-License-Identifier: Apache-2.0
-- A worker that is bound to another tenant does not take it, and is nobody else's business.
select plan(8);
select pawl.create_workflow('test.flow') \g /dev/null
select t.session(name => 'of-b') as b \gset
update pawl_data.worker set tenant = 'b';
update pawl_data.setting set tenants_bound = true;
select run_id as first from pawl.trigger('test.flow', tenant => 'b') \gset
select run_id as r from pawl.trigger('test.flow', tenant => 'a') \gset
update pawl_data.task set due_at = due_at - interval '1 s' where run_id = :'first';
select is(pawl.why(:'r'), 'Queued, but no worker has ever registered a handler for test.flow for tenant "a". Start one.', 'one that lives');
select 'ww_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'reader', 'a') \g /dev/null
set session authorization :"bound";
select is((select workers from pawl.list_queues()), 0, 'it is not counted with the queue');
select is((select workers from pawl.list_workflows()), 0, 'nor with the workflow');
reset session authorization;
select is((select concat(q.workers, w.workers) from pawl.list_queues() q, pawl.list_workflows() w), '11', 'who is bound to nobody sees it');
select pawl.leave(:b) \g /dev/null
select is(pawl.why(:'r'), 'Queued, but no worker has ever registered a handler for test.flow for tenant "a". Start one.', 'one that left');
select t.session(name => 'of-all') as w \gset
set session authorization :"bound";
select is(pawl.why(:'r'), 'Queued for 0 s: nothing is ahead of it in queue test.flow. Live workers handle the queue.', 'what others have in the queue is not told');
select is((select workers from pawl.list_queues()), 1, 'a worker of everybody counts');
reset session authorization;
select is(pawl.why(:'r'), 'Queued for 0 s: 1 task is ahead of it in queue test.flow. Live workers handle the queue.', 'who is bound to nobody is told');
drop owned by :"bound";
drop role :"bound";
select * from finish();
