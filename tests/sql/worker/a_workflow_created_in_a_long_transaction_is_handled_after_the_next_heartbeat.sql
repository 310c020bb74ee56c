-- SPDX-License-Identifier: Apache-2.0
-- The list of queues that a worker made while the creation was not committed yet must not last for ever.
select plan(1);

select pawl.create_workflow('known.flow') \g /dev/null
select t.session('{known.*,late.*}') as s \gset
begin;
select pawl.create_workflow('late.flow') \g /dev/null
-- As if the worker had claimed now: it saw the new version, but could not see the workflow.
update pawl_data.worker set queue_version = (select last_value + is_called::int from pawl_data.queue_version),
    queue_ids = array(select queue_id from pawl_data.queue where name = 'known.flow');
commit;
select t.run('late.flow') as r \gset
select pawl.heartbeat(:s) \g /dev/null
select is((select run_id from pawl.claim(:s)), :'r'::uuid, 'the run is claimed');

select * from finish();
