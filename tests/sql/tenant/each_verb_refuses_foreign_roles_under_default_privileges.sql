-- SPDX-License-Identifier: Apache-2.0
-- The owner has default privileges that give all new objects to PUBLIC and to every foreign role, at the install and afterwards.
select plan(7);
\getenv pawl_sql PAWL_SQL
\if :{?pawl_sql}
\else
\set pawl_sql build/pawl.sql
\endif
select * from t.foreign_roles() \g /dev/null
do $$ declare v text; begin
    foreach v in array array['bound', 'member', 'ambiguous', 'revoked', 'admin', 'stranger'] loop
        execute format('alter default privileges for role pawl_owner grant all on tables to public, %I', v || '_' || current_database());
        execute format('alter default privileges for role pawl_owner grant all on sequences to public, %I', v || '_' || current_database());
        execute format('alter default privileges for role pawl_owner grant execute on functions to %I with grant option', v || '_' || current_database());
        execute format('alter default privileges for role pawl_owner grant all on schemas to public, %I', v || '_' || current_database());
    end loop;
end $$;
create temporary table granted as select * from pawl_data.granted;
set client_min_messages to error;
drop schema pawl, pawl_data cascade;
reset client_min_messages;
set session authorization pawl_owner;
\i :pawl_sql
reset session authorization;
select is(t.foreign_privileges(), null, 'a fresh install gives nothing to anybody');
select is((select count(*) from pg_namespace n, aclexplode(n.nspacl) a where n.nspname in ('pawl', 'pawl_data') and a.grantee <> n.nspowner), 0::bigint, 'not even the use of the schema');
set role pawl_owner;
\ir ../../../sql/test/clock.sql
reset role;
select pawl.grant_role(g.role_name, g.privilege_set, g.tenant) from granted g \g /dev/null
select t.victim() \g /dev/null
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix()), null, 'granted roles may do what they were granted, and others nothing');
select pawl._make_partitions(pawl.now() + interval '20 days') \g /dev/null
select cmp_ok((select count(*) from pg_class where relnamespace = 'pawl_data'::regnamespace and relname like 'run\_2%'), '>', 10::bigint, 'partitions that are made later');
select is(t.foreign_privileges(), null, 'are closed, too');
select is((select string_agg(found, ', ') from pawl.doctor() where what = 'privileges'), null, 'doctor has nothing to say');
set role pawl_owner;
create table pawl_data.leftover (x int);
reset role;
select is((select count(*) from pawl.doctor() where what = 'privileges' and found like '%pawl_data.leftover'), 5::bigint, 'except of a table that was created by hand');
do $$ declare v text; begin
    foreach v in array array['bound', 'member', 'ambiguous', 'revoked', 'admin', 'stranger'] loop
        execute format('alter default privileges for role pawl_owner revoke all on tables from public, %I', v || '_' || current_database());
        execute format('alter default privileges for role pawl_owner revoke all on sequences from public, %I', v || '_' || current_database());
        execute format('alter default privileges for role pawl_owner revoke all on functions from %I', v || '_' || current_database());
        execute format('alter default privileges for role pawl_owner revoke all on schemas from public, %I', v || '_' || current_database());
    end loop;
end $$;
select t.drop_foreign_roles() \g /dev/null
select * from finish();
