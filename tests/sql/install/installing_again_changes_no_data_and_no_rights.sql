-- SPDX-License-Identifier: Apache-2.0
select plan(10);
\getenv pawl_sql PAWL_SQL
\if :{?pawl_sql}
\else
\set pawl_sql build/pawl.sql
\endif
select 'ii_' || current_database() as reader \gset
create role :"reader" login;
select pawl.grant_role(:'reader', 'reader', 'a') \gset
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a run is under way');
create temporary table before as select p.oid::regprocedure::text as f, p.proacl::text from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.proname not like '\_%' and p.proname <> 'now';
-- An older version, whose trigger has fewer arguments, and a function of the owner.
set session authorization pawl_owner;
create function pawl.trigger(workflow text, input json default '{}') returns uuid language sql return null::uuid;
comment on function pawl.trigger(text, json) is E'Triggers a run.\nIf repeated: another one.';
create function pawl.mine() returns int language sql return 1;
comment on function pawl.mine() is 'of the owner';
\i :pawl_sql
\i :pawl_sql
reset session authorization;
select is((select string_agg(f, ', ') from (select * from before except select p.oid::regprocedure::text, p.proacl::text from pg_proc p where p.pronamespace = 'pawl'::regnamespace) x), null, 'rights are as they were');
select is(has_function_privilege(:'reader', 'pawl.get_run(uuid)', 'execute'), true, 'a granted role may still call');
select is((select answer from pawl.step(:s, :'r', :f, 'two')), 'ok', 'the worker goes on');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'and ends its run');
select is((select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)), null, 'nothing is for everybody');
select is((select string_agg(distinct pg_get_userbyid(p.proowner), ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.proname not like 'test\_clock%'), 'pawl_owner', 'an ordinary role owns it all');
select is((select created from pawl.trigger('test.flow')), true, 'an older signature does not stay');
select is(pawl.mine(), 1, 'a function of the owner does');
select is((select rolsuper or rolcreaterole or rolcreatedb from pg_roles where rolname = 'pawl_owner'), false, 'which has no special rights');
drop owned by :"reader";
drop role :"reader";
select * from finish();
