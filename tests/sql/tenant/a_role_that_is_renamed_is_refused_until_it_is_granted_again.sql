-- SPDX-License-Identifier: Apache-2.0
-- Execute rights follow a role that is renamed. What it is bound to is known by its name, and must not be lost.
select plan(17);
select 'ra_' || current_database() as acme, 'rz_' || current_database() as renamed, 'rm_' || current_database() as member,
       'rg_' || current_database() as globex, 'rp_' || current_database() as pool, 'rh_' || current_database() as hand \gset
create role :"acme" login;
create role :"member" login;
create role :"globex";
create role :"pool" login;
create role :"hand" login;
grant :"acme" to :"member";
grant :"acme", :"globex" to :"pool";
select pawl.grant_role(:'acme', r, 'acme') from unnest(array['reader', 'operator']) r \g /dev/null
select pawl.grant_role(:'globex', 'reader', 'globex') \gset
grant usage on schema public to :"acme", :"globex", :"member", :"pool", :"hand";
grant usage on schema pawl to :"hand";
grant execute on function pawl.get_run(uuid) to :"hand";
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
       format('select input ->> ''of'' from pawl.get_run(%L)', :'theirs') as see_theirs,
       format('select answer from pawl.kill(array[%L::uuid])', :'theirs') as kill_theirs \gset
alter role :"acme" rename to :"renamed";

set session authorization :"renamed";
select is(outcome(:'see_theirs'), '42501', 'a renamed role is not let into another tenant');
select is(outcome(:'kill_theirs'), '42501', 'kills nothing there');
select is(outcome(:'see_ours'), '42501', 'nor is its own tenant known');
select is(outcome('select pawl.pause_workflow(''test.flow'')'), '42501', 'and what concerns every tenant is refused');
set session authorization :"member";
select is(outcome(:'see_theirs'), '42501', 'nor is a member of it');
set session authorization :"pool";
select is(outcome(:'see_theirs'), '42501', 'nor a login that has not chosen');
set role :"globex";
select is(outcome(:'see_theirs'), 'globex', 'which may choose a role that kept its name');
set session authorization :"hand";
select is(outcome(:'see_theirs'), 'globex', 'a role that was given a function by hand is not meant');
set session authorization pawl_owner;
select is(outcome(:'see_theirs'), 'globex', 'nor the owner');
reset session authorization;

select lives_ok(format('select pawl.revoke_role(%L, r) from unnest(array[''reader'', ''operator'']) r', :'acme'), 'the owner takes the old name''s row away');
set session authorization :"renamed";
select is(outcome(:'see_theirs'), '42501', 'which opens nothing');
reset session authorization;
select lives_ok(format('select pawl.grant_role(%L, r, ''acme'') from unnest(array[''reader'', ''operator'']) r', :'renamed'), 'and grants under the new one');
set session authorization :"renamed";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), 'acme PW001', 'then it is as it was before');
select is(outcome(:'kill_theirs'), 'not_found', 'in every verb');
set session authorization :"member";
select is(outcome(:'see_ours') || ' ' || outcome(:'see_theirs'), 'acme PW001', 'and for its members');
reset session authorization;
select is((select string_agg(status, ' ') from pawl.list_runs()), 'QUEUED QUEUED', 'nothing was killed');

-- Where nobody is bound there is nothing to lose.
select pawl.revoke_role(:'globex', 'reader') \gset
select pawl.revoke_role(:'renamed', 'operator') \gset
select pawl.grant_role(:'renamed', 'reader') \gset
alter role :"renamed" rename to :"acme";
set session authorization :"acme";
select is(outcome(:'see_theirs'), 'globex', 'a rename is no matter where no role is bound');
reset session authorization;
drop owned by :"acme", :"globex", :"member", :"pool", :"hand";
drop role :"acme", :"globex", :"member", :"pool", :"hand";
select * from finish();
