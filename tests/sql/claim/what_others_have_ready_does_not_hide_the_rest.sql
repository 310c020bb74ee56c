-- SPDX-License-Identifier: Apache-2.0
-- A claim looks up no more queues than it asks for tasks. In most of them nothing is for this worker.
select plan(2);

select pawl.create_workflow('many.q' || n) from generate_series(1, 40) n \g /dev/null
select t.session('{many.*}') as s \gset
update pawl.worker set tenant = 'acme' where session_id = :s;
select pawl.trigger('many.q' || n, tenant => 'other') from generate_series(1, 40) n \g /dev/null
select pawl.trigger('many.q' || n, tenant => 'acme') from unnest('{7,31}'::int[]) n \g /dev/null
select is((select array_agg(tenant) from pawl.claim(:s)), '{acme}', 'one of two');
select is((select array_agg(tenant) from pawl.claim(:s, 2)), '{acme}', 'the other');

select * from finish();
