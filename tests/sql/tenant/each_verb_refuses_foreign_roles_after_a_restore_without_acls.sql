-- SPDX-License-Identifier: Apache-2.0
-- pg_restore --no-owner --no-acl leaves every function to PUBLIC and the schema to its owner alone. Where pg_dump is as new as
-- the server the schema is really dumped, dropped and restored; elsewhere its ACLs are made what such a restore leaves.
select plan(8);
select t.victim() \g /dev/null
select * from t.foreign_roles() \g /dev/null
\setenv PGDATABASE :DBNAME
\set dumped `export PGHOST="${PAWL_DIRECT_PGHOST:-$PGHOST}" PGPORT="${PAWL_DIRECT_PGPORT:-$PGPORT}"; f=$(mktemp) && pg_dump --no-owner --no-acl --schema pawl --schema pawl_data >"$f" 2>/dev/null && psql -qXc 'drop schema pawl, pawl_data cascade' 2>/dev/null && psql -qX -U pawl_owner -v ON_ERROR_STOP=1 -f "$f" >/dev/null && echo true || echo false; rm -f "$f"`
\if :dumped
\else
do $$ declare v text; begin
    foreach v in array array['tv', 'bound', 'other', 'member', 'ambiguous', 'revoked', 'admin', 'stranger'] loop
        execute format('revoke all on schema pawl from %I', v || '_' || current_database());
        execute format('revoke all on all routines in schema pawl from %I', v || '_' || current_database());
    end loop;
    grant execute on all routines in schema pawl to public;
end $$;
\endif
select is((select count(*) from pg_proc p where p.pronamespace = 'pawl'::regnamespace and has_function_privilege('stranger_' || current_database(), p.oid, 'execute')),
    (select count(*) from pg_proc p where p.pronamespace = 'pawl'::regnamespace), 'PUBLIC may execute every function');
select is((select string_agg(found, ', ') from pawl.doctor() where what = 'privileges' and found like 'PUBLIC has EXECUTE on % objects %grant_role(name,text,text)'), (select found from pawl.doctor() where what = 'privileges' limit 1), 'which doctor says');
select is((select count(*) from t.foreign_matrix() where outcome <> '42501'), 0::bigint, 'before the first grant no role can call');
set session authorization pawl_owner;
select pawl.grant_role(('tv_' || current_database())::name, 'reader', 'victim') \g /dev/null
reset session authorization;
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix()), null, 'after the first grant each role may do what it was granted before');
select is(t.foreign_privileges(), null, 'and no more');
select is((select string_agg(found, ', ') from pawl.doctor() where what = 'privileges'), null, 'doctor has nothing to say any more');
-- The same by an install.
revoke all on all routines in schema pawl from public;
do $$ begin execute format('revoke all on schema pawl from %I', 'bound_' || current_database()); grant execute on all routines in schema pawl to public; end $$;
select is((select string_agg(found, ', ') from pawl.doctor() where what = 'privileges' and found like '%lacks USAGE%'),
    'role "bound_' || current_database() || '" lacks USAGE on 1 object of schemas pawl and pawl_data that a grant names, for example pawl', 'doctor says which role lacks what it was granted');
\getenv pawl_sql PAWL_SQL
\if :{?pawl_sql}
\else
\set pawl_sql build/pawl.sql
\endif
set session authorization pawl_owner;
\i :pawl_sql
reset session authorization;
select is((select string_agg(format('%s: %s: %s, expected %s', kind, call, outcome, expected), e'\n') from t.foreign_matrix()), null, 'an install repairs both');
select t.drop_foreign_roles() \g /dev/null
select * from finish();
