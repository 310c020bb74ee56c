-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select is((select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace
    and not coalesce(p.proconfig @> array['search_path=pg_catalog, pg_temp'], false) and p.prosqlbody is null), 'pawl.tick(boolean)', 'every function has search_path pinned to pg_catalog, then pg_temp, or a parsed body, except the procedure, which could not commit');
select is((select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace
    and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0) and p.proname not like 'test\_clock%' and p.proname <> 'now'), null, 'none is executable by PUBLIC');
select is((select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace
    and p.prosecdef <> (p.proname not like '\_%' and p.proname <> 'tick' or p.proname in ('_tick_begins', '_tick_piece', '_tick_tables', '_ring_at_commit'))), null, 'public ones run as the owner, private ones as the caller; tick() as the caller, its pieces as the owner');
select is((select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace
    and not p.prolang = any (select oid from pg_language where lanname in ('sql', 'plpgsql'))), null, 'in trusted languages only');
select is((select string_agg(c.oid::regclass::text, ', ') from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p', 'S', 'v')
    and exists (select from aclexplode(coalesce(c.relacl, acldefault(case when c.relkind = 'S' then 's' else 'r' end::"char", c.relowner))) a where a.grantee <> c.relowner)), null, 'no relation is granted to anybody');
select is((select count(*) from pg_namespace n, aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) a where n.nspname in ('pawl', 'pawl_data') and a.grantee <> n.nspowner), 0::bigint, 'nor is the schema, before a grant');
select is((select string_agg(p.oid::regprocedure::text, ', ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and obj_description(p.oid, 'pg_proc') is null and p.proname not like 'test\_clock%'), null, 'every function has a comment');
select is((select string_agg(c.oid::regclass::text, ', ') from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p', 'S') and not c.relispartition
    and obj_description(c.oid, 'pg_class') is null and c.relname <> 'test_clock'
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('i', 'a'))), null, 'so has every table and sequence');
select is((select count(*) from pg_depend d join pg_extension e on e.oid = d.refobjid join pg_class c on c.oid = d.objid where c.relnamespace = 'pawl_data'::regnamespace), 0::bigint, 'nothing needs an extension');
select * from finish();
