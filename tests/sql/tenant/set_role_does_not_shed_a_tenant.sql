-- SPDX-License-Identifier: Apache-2.0
-- Rights follow the current role, which in a function of the caller's own is not the one that set role names. So a
-- role that was set may choose among the login's tenants, and never opens what the login is kept from.
select plan(17);
select 'sa_' || current_database() as acme, 'sx_' || current_database() as globex, 'st_' || current_database() as team,
       'sr_' || current_database() as readers, 'sl_' || current_database() as login, 'sp_' || current_database() as pool,
       'sb_' || current_database() as both, 'so_' || current_database() as own \gset
create role :"acme" login;
create role :"globex";
create role :"team";
create role :"readers";
create role :"login" login;
create role :"pool" login noinherit;
create role :"both" login;
create role :"own" login;
select pawl.grant_role(:'acme', r, 'acme') from unnest(array['reader', 'operator']) r \g /dev/null
select pawl.grant_role(:'globex', 'reader', 'globex') \gset
select pawl.grant_role(:'readers', 'reader') \gset
select pawl.grant_role(:'own', 'operator', 'acme') \gset
grant :"team", :"readers" to :"acme";
-- A member of a bound group and of one that is not bound; a pooler's login, which is nothing but a member; one that
-- is bound itself and a member of another tenant's role.
grant :"acme", :"readers" to :"login";
grant :"acme", :"globex", :"readers" to :"pool";
grant :"readers", :"team" to :"both";
grant :"globex" to :"own";
grant usage on schema public to :"acme", :"globex", :"team", :"readers", :"login", :"pool", :"both", :"own";
grant create on schema public to :"acme", :"own";
select pawl.create_workflow('test.flow') \gset
select run_id as ours from pawl.trigger('test.flow', '{"of": "acme"}', tenant => 'acme') \gset
select run_id as theirs from pawl.trigger('test.flow', '{"of": "globex"}', tenant => 'globex') \gset
create function outcome(call text) returns text language plpgsql as $$
declare v text;
begin
    execute call into v;
    return coalesce(v, 'nothing');
exception when others then
    return sqlstate;
end $$;
select format('select input ->> ''of'' from pawl.get_run(%L)', :'ours') as see_ours,
       format('select input ->> ''of'' from pawl.get_run(%L)', :'theirs') as see_theirs \gset

set session authorization :"acme";
create function public.peek(run uuid) returns json language sql security definer set search_path to pg_catalog, pg_temp as 'select input from pawl.get_run(run)';
create function public.stop(run uuid) returns text language sql security definer set search_path to pg_catalog, pg_temp as 'select answer from pawl.kill(array[run])';
select is(outcome(format('select peek(%L)', :'theirs')), 'PW001', 'a function of its own shows nothing of another tenant');
set role :"team";
select is(outcome(format('select peek(%L)', :'theirs')), 'PW001', 'nor after set role to a group without rights');
select is(outcome(format('select stop(%L)', :'theirs')), 'not_found', 'nor does it kill');
select is(outcome(format('select peek(%L) ->> ''of''', :'ours')), 'acme', 'its own run is found');
set role :"readers";
select is(outcome(:'see_theirs'), 'PW001', 'set role to a group that is not bound opens nothing');
select is(outcome(:'see_ours'), 'acme', 'and leaves its own');

set session authorization :"login";
set role :"readers";
select is(outcome(:'see_theirs'), 'PW001', 'a member of a bound role: the same');
select is(outcome(:'see_ours'), 'acme', 'and its own is found');

set session authorization :"pool";
set role :"acme";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), 'acme PW001', 'a login without rights of its own becomes one tenant''s role');
set role :"globex";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), 'PW001 globex', 'or another''s');
set role :"readers";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), '42501 42501', 'and without a choice it is refused');

set session authorization :"both";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), 'acme globex', 'a login that nothing binds finds both');
set role :"readers";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), 'acme globex', 'also after set role');

-- It is an operator in its own tenant, and would be one in that of the other role.
set session authorization :"own";
create function public.end_it(run uuid) returns text language sql security definer set search_path to pg_catalog, pg_temp as 'select answer from pawl.kill(array[run])';
set role :"globex";
select is(outcome(format('select end_it(%L)', :'theirs')), '42501', 'who is bound itself does not take its rights to another tenant');
select is(outcome(:'see_theirs'), '42501', 'nor finds anything there');
reset session authorization;
select is((select string_agg(status, ' ') from pawl.list_runs()), 'QUEUED QUEUED', 'nothing was killed');

-- What is left in the setting is a name that is nobody's.
set session authorization :"both";
set role :"team";
\setenv RENAMED :team
\! PGHOST="${PAWL_DIRECT_PGHOST:-$PGHOST}" PGPORT="${PAWL_DIRECT_PGPORT:-$PGPORT}" psql -qXc "alter role \"$RENAMED\" rename to \"z$RENAMED\"" "$PGDATABASE"
select is(outcome(format('select peek(%L)', :'theirs')), '42501', 'a role that was renamed after it was set has to be set again');
reset session authorization;
select 'z' || :'team' as team \gset
drop owned by :"acme", :"globex", :"team", :"readers", :"login", :"pool", :"both", :"own";
drop role :"acme", :"globex", :"team", :"readers", :"login", :"pool", :"both", :"own";
select * from finish();
