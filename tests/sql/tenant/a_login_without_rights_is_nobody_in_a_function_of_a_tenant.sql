-- SPDX-License-Identifier: Apache-2.0
-- A security definer function of a bound role has its rights, and who calls it is not bound: without rights of its own it is refused.
select plan(5);
select 'ta_' || current_database() as acme, 'tr_' || current_database() as report, 'th_' || current_database() as hand \gset
create role :"acme" login;
create role :"report" login;
create role :"hand" login;
create schema acme authorization :"acme";
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.grant_role(:'acme', 'operator', 'acme') \g /dev/null
select pawl.trigger('test.flow', tenant => 'globex') \g /dev/null
set session authorization :"acme";
create function acme.runs() returns bigint language sql security definer set search_path to pg_catalog, pg_temp as 'select count(*) from pawl.list_runs()';
reset session authorization;
grant usage on schema acme to :"report", :"hand";
set session authorization :"acme";
select is(acme.runs(), 0::bigint, 'the tenant itself finds nothing of others');
set session authorization :"report";
select throws_ok('select acme.runs()', '42501', null, 'nor does a login that has no rights');
reset session authorization;
select pawl.grant_role(:'report', 'reader', 'acme') \g /dev/null
set session authorization :"report";
select is(acme.runs(), 0::bigint, 'with rights, in its own tenant');
reset session authorization;
grant usage on schema pawl to :"hand";
grant execute on function pawl.list_runs(text, text, text, text, text, timestamptz, timestamptz, uuid, int) to :"hand";
set session authorization :"hand";
select is((select count(*) from pawl.list_runs()), 1::bigint, 'rights that were given by hand are rights until the next grant');
reset session authorization;
select is((select count(*) from pawl.list_runs()), 1::bigint, 'and the owner sees all');
drop owned by :"acme", :"report", :"hand";
drop role :"acme", :"report", :"hand";
select * from finish();
