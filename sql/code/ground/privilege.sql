-- SPDX-License-Identifier: Apache-2.0
-- Privileges on single tables: how they are written, and how a new table is closed to all but its owner.

-- How grant and revoke write a grantee.
create or replace function pawl._grantee(p_role oid)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case p_role when 0 then 'public' else quote_ident(pg_get_userbyid(p_role)) end;
end
$$;
comment on function pawl._grantee(oid) is 'a role as grant and revoke write it; 0 is PUBLIC';

-- Revokes what default privileges of the owner gave to others on a new table.
create or replace function pawl._close_table(p_table regclass)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_grantee oid;
begin
    -- 1. The owner has default privileges that give new tables to a role of analysts. 2. Housekeeping creates the partitions of a day.
    -- Without this the analysts, who may use the schema because they are readers of one tenant, read the runs of all.
    -- guard:partition_closed
    for v_grantee in
        select distinct a.grantee
        from pg_class c
        cross join aclexplode(c.relacl) a
        where c.oid = p_table and a.grantee <> c.relowner
    loop
        -- Dynamic because neither a table nor a role can be a parameter of revoke.
        execute format('revoke all on table %s from %s cascade', p_table, pawl._grantee(v_grantee));
    end loop;
end
$$;
comment on function pawl._close_table(regclass) is 'leaves a table to its owner alone';
