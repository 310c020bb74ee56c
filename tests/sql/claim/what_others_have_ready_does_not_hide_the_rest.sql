-- SPDX-License-Identifier: Apache-2.0
-- A claim looks up no more queues than it asks for tasks. In most of them another transaction has the task, or it is of another tenant.
select plan(4);

select pawl.create_workflow('many.q' || n) from generate_series(1, 40) n \g /dev/null
select t.session('{many.*}') as s \gset
select pawl.trigger('many.q' || n, tenant => 'other') from generate_series(1, 40) n \g /dev/null
select pawl.trigger('many.q' || n, tenant => 'acme') from unnest('{7,31}'::int[]) n \g /dev/null
select t.other_holds('select run_id from pawl_data.task where tenant = ''other'' for update') \g /dev/null
select is((select array_agg(tenant) from pawl.claim(:s)), '{acme}', 'one that nobody holds');
select is((select array_agg(tenant) from pawl.claim(:s)), '{acme}', 'the other');
select t.other_done() \g /dev/null

select t.session('{many.*}', name => 'bound') as b \gset
update pawl_data.worker set tenant = 'acme' where session_id = :b;
select pawl.trigger('many.q' || n, tenant => 'acme') from unnest('{9,33}'::int[]) n \g /dev/null
select is((select array_agg(tenant) from pawl.claim(:b)), '{acme}', 'a bound worker finds one of two');
select is((select array_agg(tenant) from pawl.claim(:b, 2)), '{acme}', 'and the other');

select * from finish();
