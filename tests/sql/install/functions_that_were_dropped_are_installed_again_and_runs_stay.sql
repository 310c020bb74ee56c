-- SPDX-License-Identifier: Apache-2.0
-- An operator drops schema pawl by hand. The tables are in schema pawl_data, so an install repairs it.
select plan(3);
\getenv pawl_sql PAWL_SQL
\if :{?pawl_sql}
\else
\set pawl_sql build/pawl.sql
\endif
select 'fd_' || current_database() as role \gset
create role :"role" login;
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as r from pawl.trigger('test.flow') \gset
select pawl.grant_role(:'role', 'reader') \g /dev/null
set client_min_messages = warning;
drop schema pawl cascade;
set session authorization pawl_owner;
\i :pawl_sql
reset session authorization;
select is((select status from pawl.get_run(:'r')), 'QUEUED', 'the run is there');
select is((select created from pawl.trigger('test.flow')), true, 'another one can be triggered');
select ok(has_function_privilege(:'role', 'pawl.get_run(uuid)', 'execute') and has_schema_privilege(:'role', 'pawl', 'usage'), 'a granted role has its functions again');
select * from finish();
drop owned by :"role";
drop role :"role";
