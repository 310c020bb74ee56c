-- SPDX-License-Identifier: Apache-2.0
-- What pawl_data.granted says is all that a role may do. A grant, a revoke and an install revoke all other privileges.
select plan(22);
\getenv pawl_sql PAWL_SQL
\if :{?pawl_sql}
\else
\set pawl_sql build/pawl.sql
\endif
select 'gn_' || current_database() as named, 'gs_' || current_database() as stranger, 'gt_' || current_database() as third \gset
select format('create role %I login', r) from unnest(array[:'named', :'stranger', :'third']) r \gexec
select pawl.grant_role(:'named', 'reader', 'a') \g /dev/null
create function t.may(role text) returns text language sql as $$
    select concat_ws(' ', case when has_schema_privilege(role, 'pawl', 'usage') then 'usage' end, case when has_schema_privilege(role, 'pawl', 'create') then 'create' end, case when has_schema_privilege(role, 'pawl_data', 'usage') then 'data' end,
        case when has_table_privilege(role, 'pawl_data.task', 'select') then 'table' end, case when has_column_privilege(role, 'pawl_data.run', 'input', 'select') then 'column' end,
        case when has_sequence_privilege(role, 'pawl_data.session_no', 'usage') then 'sequence' end, case when has_function_privilege(role, 'pawl.grant_role(name,text,text)', 'execute') then 'grant_role' end,
        case when has_function_privilege(role, 'pawl.get_run(uuid)', 'execute') then 'get_run' end)
$$;
create procedure t.open(role text) language plpgsql as $$
begin
    execute format('grant all on schema pawl, pawl_data to %s', role);
    execute format('grant all on all tables in schema pawl_data to %s', role);
    execute format('grant select (input) on pawl_data.run to %s', role);
    execute format('grant all on all sequences in schema pawl_data to %s', role);
    execute format('grant all on all functions in schema pawl to %s', role);
end $$;
select is(t.may(:'named'), 'usage get_run', 'a granted role has its set');
call t.open('public');
select is(t.may(:'stranger'), 'usage create data table column sequence grant_role get_run', 'PUBLIC was given everything');
set session authorization :"stranger";
select throws_ok(format('select pawl.grant_role(%L, %L)', :'stranger', 'operator'), '42501', 'only the owner of schema pawl may call pawl.grant_role', 'and yet a stranger cannot grant itself rights');
select throws_ok(format('select pawl.revoke_role(%L, %L)', :'named', 'reader'), '42501', 'only the owner of schema pawl may call pawl.revoke_role', 'or take them from others');
select throws_ok('select * from pawl.list_runs()', '42501', null, 'nor, where a role is bound to a tenant, see any run');
set session authorization pawl_owner;
select lives_ok(format('select pawl.grant_role(%L, %L, %L)', :'named', 'reader', 'a'), 'the owner repeats a grant');
reset session authorization;
select is(t.may(:'stranger'), '', 'PUBLIC has nothing any more');
select is(t.may(:'named'), 'usage get_run', 'the granted role has its set');
call t.open(quote_ident(:'stranger'));
call t.open(quote_ident(:'named'));
select is(t.may(:'stranger'), 'usage create data table column sequence grant_role get_run', 'a role was given everything by hand, with and without a grant');
select pawl.grant_role(:'third', 'producer', 'b') \g /dev/null
select is(t.may(:'stranger'), '', 'the grant of another takes it');
select is(t.may(:'named'), 'usage get_run', 'and leaves what was granted');
-- With the grant option, which was used.
grant usage on schema pawl to :"named" with grant option;
grant execute on function pawl.get_run(uuid) to :"named" with grant option;
set session authorization :"named";
grant usage on schema pawl to :"stranger";
grant execute on function pawl.get_run(uuid) to :"stranger";
reset session authorization;
select is(t.may(:'stranger'), 'usage get_run', 'a granted role had the grant option, and passed its rights on');
select pawl.revoke_role(:'third', 'producer') \g /dev/null
select is(t.may(:'stranger'), '', 'a revoke takes what was passed on');
select is(t.may(:'named'), 'usage get_run', 'and leaves the set');
select is((select count(*) from pg_proc p, aclexplode(p.proacl) a where p.pronamespace = 'pawl'::regnamespace and a.is_grantable and a.grantee <> p.proowner), 0::bigint, 'without the option');
select is(t.may(:'third'), '', 'of the last set of a role nothing is left, not even the use of the schema');
-- By an install, which gives back what is missing as well.
call t.open('public');
select format('revoke all on schema pawl from %I', :'named') \gexec
select format('revoke all on all functions in schema pawl from %I', :'named') \gexec
set session authorization pawl_owner;
\i :pawl_sql
reset session authorization;
select is(t.may(:'stranger'), '', 'an install takes what PUBLIC was given');
select is(t.may(:'named'), 'usage get_run', 'and gives granted roles their functions and the use of the schema');
-- A function of the owner may grant, for any role that may call it, while the privileges are what was granted.
set role pawl_owner;
create schema provision;
create function provision.admit(role name, tenant text) returns void language sql security definer set search_path to pg_catalog, pg_temp as $$ select pawl.grant_role(role, 'producer', tenant) $$;
grant usage on schema provision to public;
reset role;
set session authorization :"stranger";
select lives_ok(format('select provision.admit(%L, %L)', :'third', 'c'), 'a function of the owner may grant');
reset session authorization;
select is((select tenant from pawl_data.granted where role_name = :'third'), 'c', 'what it is told');
select is(t.may(:'third'), 'usage get_run', 'and nothing else');
select is(t.may(:'stranger'), '', 'nothing to who called it');
drop schema provision cascade;
drop owned by :"named", :"stranger", :"third";
drop role :"named", :"stranger", :"third";
select * from finish();
