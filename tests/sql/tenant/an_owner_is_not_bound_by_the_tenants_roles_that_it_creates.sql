-- SPDX-License-Identifier: Apache-2.0
-- Since PostgreSQL 16 a role with CREATEROLE is a member, by admin option alone, of every role that it creates. Before, it is one if it
-- grants itself the role. Neither binds the owner of the schema; a membership that gives nothing does not bind.
select plan(14);
select 'oc_' || current_database() as owner, 'oa_' || current_database() as a, 'ob_' || current_database() as b, 'oo_' || current_database() as operator,
       'od_' || current_database() as d, 'om_' || current_database() as deputy \gset
create role :"owner" login createrole;
create role :"operator" login createrole;
create role :"deputy" login;
grant :"owner" to :"deputy";
-- As if this role had installed it.
create procedure t.give_to(owner name) language plpgsql as $$
declare
    v_object text;
begin
    for v_object in select p.oid::regprocedure::text from pg_proc p where p.pronamespace = 'pawl'::regnamespace loop
        execute format('alter routine %s owner to %I', v_object, owner);
    end loop;
    for v_object in select c.oid::regclass::text from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p', 'S')
            and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('i', 'a') and d.refclassid = 'pg_class'::regclass and c.relkind = 'S') loop
        execute format('alter table %s owner to %I', v_object, owner);
    end loop;
    execute format('alter schema pawl owner to %I', owner);
    execute format('alter schema pawl_data owner to %I', owner);
end $$;
call t.give_to(:'owner');
set session authorization :"owner";
select pawl.create_workflow('test.coded') \g /dev/null
select run_id as run from pawl.trigger('test.coded', tenant => 'b') \gset
create role :"a" login;
select pawl.grant_role(:'a', 'producer', 'a') \g /dev/null
select pawl.grant_role(:'operator', 'operator') \g /dev/null
reset session authorization;
-- Before 16 by hand, and as a member that inherits.
select current_setting('server_version_num')::int < 160000 as before_16 \gset
\if :before_16
grant :"a" to :"owner";
\endif
set session authorization :"owner";
select is((select count(*) from pg_auth_members m where m.member = :'owner'::regrole and m.roleid = :'a'::regrole), 1::bigint, 'the owner is a member of the tenant''s role');
select is((select count(*) from pawl.list_runs()), 1::bigint, 'and sees another tenant''s run');
select lives_ok($$select pawl.trigger('test.coded', tenant => 'b')$$, 'triggers one there');
select lives_ok($$select pawl.raise_epoch('failover')$$, 'raises the epoch');
create role :"b" login;
select pawl.grant_role(:'b', 'producer', 'b') \g /dev/null
reset session authorization;
\if :before_16
grant :"b" to :"owner";
\endif
set session authorization :"owner";
select is((select count(*) from pawl.list_runs()), 2::bigint, 'the same with a second tenant');
select lives_ok($$select * from pawl.set_retention('3 days')$$, 'in verbs that concern every tenant as well');
select throws_ok(format('select pawl.grant_role(%L, %L, %L)', :'owner', 'reader', 'a'), 'PW003', null, 'nor can it be bound by a grant');
set session authorization :"deputy";
select is((select count(*) from pawl.list_runs()), 2::bigint, 'a member of the owner is not bound either');
reset session authorization;
insert into pawl_data.granted values (:'owner', 'reader', 'a');
set session authorization :"owner";
select is((select count(*) from pawl.list_runs()), 2::bigint, 'not even by a row that came with a restore');

-- An operator that is not the owner, and creates the role of a tenant.
set session authorization :"operator";
create role :"d" login;
set session authorization :"owner";
select pawl.grant_role(:'d', 'producer', 'd') \g /dev/null
set session authorization :"operator";
select is((select count(*) from pawl.list_runs()), 2::bigint, 'an operator that creates the role of a tenant is not bound');
reset session authorization;
select is(pawl._is_usable('{"admin_option": true, "inherit_option": false, "set_option": false}'), false, 'for a membership by admin option alone gives nothing');
select is((select string_agg(pawl._is_usable(m)::text, ' ') from unnest(array['{"inherit_option": true, "set_option": false}', '{"inherit_option": false, "set_option": true}', '{"admin_option": false}']::jsonb[]) m),
    'true true true', 'one that inherits or may set the role does');
\if :before_16
grant :"d" to :"operator";
\else
grant :"d" to :"operator" with inherit true;
\endif
set session authorization :"operator";
select is((select count(*) from pawl.list_runs()), 0::bigint, 'a member that inherits is bound');
select throws_ok($$select pawl.raise_epoch('x')$$, 'PW007', null, 'to one tenant');
reset session authorization;
call t.give_to('pawl_owner');
drop owned by :"owner", :"a", :"b", :"d", :"operator", :"deputy";
drop role :"a", :"b", :"d", :"deputy", :"operator";
drop role :"owner";
select * from finish();
