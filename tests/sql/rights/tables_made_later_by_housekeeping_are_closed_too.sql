-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select 'rl_' || current_database() as reader \gset
create role :"reader" login;
select pawl.grant_role(:'reader', 'reader') \gset
-- As the owner of many a database has it.
select format('alter default privileges for role pawl_owner grant select on tables to public, %I', :'reader') \gexec
select t.stop_clock();
select t.later('20 days');
select cmp_ok((select count(*) from pg_class where relnamespace = 'pawl_data'::regnamespace and relname like 'run\_2%'), '>', 8::bigint, 'there are new partitions');
select is((select count(*) from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p') and has_table_privilege(:'reader', c.oid, 'select, insert, update, delete')), 0::bigint, 'nobody may touch them');
select format('alter default privileges for role pawl_owner revoke select on tables from public, %I', :'reader') \gexec
drop owned by :"reader";
drop role :"reader";
select * from finish();
