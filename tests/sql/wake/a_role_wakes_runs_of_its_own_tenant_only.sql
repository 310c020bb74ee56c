-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select pawl.create_workflow('test.flow') \gset
create role wake_acme login;
create role wake_producer login;
select pawl.grant_role('wake_acme', 'operator', 'acme'), pawl.grant_role('wake_producer', 'producer') \gset
select run_id as own from pawl.trigger('test.flow', tenant => 'acme', delay => '1 h') \gset
select run_id as other from pawl.trigger('test.flow', tenant => 'other', delay => '1 h') \gset
set session authorization wake_acme;
select string_agg(answer, ' ') as answers from pawl.wake(array[:'own', :'other']::uuid[]) \gset
reset session authorization;
select is(:'answers'::text, 'ok not_found', 'an operator of a tenant');
select is(t.state(:'own') || ' ' || t.state(:'other'), 'QUEUED PAUSED delay', 'wakes its own');
select is((select who from pawl.history(:'own') where what = 'wake'), 'wake_acme', 'and is named');
set session authorization wake_producer;
\set ON_ERROR_STOP 0
select pawl.wake(array[:'other']::uuid[]);
\set ON_ERROR_STOP 1
reset session authorization;
select is(:'LAST_ERROR_SQLSTATE'::text, '42501', 'a producer may not');
drop owned by wake_acme, wake_producer;
drop role wake_acme, wake_producer;
select * from finish();
