-- SPDX-License-Identifier: Apache-2.0
-- A heartbeat tells of a thousand tasks, and of the paused ones again and again.
select plan(3);
select t.session() as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select count(*) as n from pawl.trigger_many('test.flow', array_fill('{}'::json, array[1002])) \gset
select array_agg(run_id) as all from pawl.claim(:s, 1000, 1) \gset
select max(run_id::text) as r from pawl.claim(:s, 1000, 2) \gset
select is((select count(*) from pawl.held(:s)), 1002::bigint, 'a worker holds more');
select count(*) as n from pawl.pause(:'all') \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'the last one is cancelled');
select is((select string_agg(notice, ' ') from pawl.heartbeat(:s) where run_id = :'r'), 'cancelled', 'and it is told');
select * from finish();
