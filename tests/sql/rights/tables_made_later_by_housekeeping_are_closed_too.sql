-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select 'rl_' || current_database() as reader \gset
create role :"reader" login;
select pawl.grant_role(:'reader', 'reader') \gset
select t.stop_clock();
select t.later('20 days');
select cmp_ok((select count(*) from pg_class where relnamespace = 'pawl'::regnamespace and relname like 'run\_2%'), '>', 8::bigint, 'there are new partitions');
select is((select count(*) from pg_class c where c.relnamespace = 'pawl'::regnamespace and c.relkind in ('r', 'p') and has_table_privilege(:'reader', c.oid, 'select, insert, update, delete')), 0::bigint, 'nobody may touch them');
drop owned by :"reader";
drop role :"reader";
select * from finish();
