-- SPDX-License-Identifier: Apache-2.0
-- Which tenant's data a caller may see. A grant may bind a role to one tenant; any other role names the tenant.

-- Whether a membership, a row of pg_auth_members, lets the member use the role. The two columns do not exist before
-- PostgreSQL 16, where every member may set the role.
create or replace function pawl._is_usable(p_membership jsonb)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- 1. A, an operator that is not bound, creates the role of tenant b: since PostgreSQL 16 A is its member by admin option alone.
    -- 2. A raises the epoch. Without this A would be bound to b, and refused.
    -- guard:tenant_admin_only
    return not p_membership @> '{"inherit_option": false, "set_option": false}';
end
$$;
comment on function pawl._is_usable(jsonb) is 'whether a member inherits a role or may set it';

-- Returns the tenant that the caller is bound to, or null. Membership is read from the catalog and not asked of pg_has_role(), which
-- returns true for everything to a superuser.
--
-- A role may choose among its tenants with set role, and cannot shed them. Rights are those of the current role, which set role does not
-- show. In a security definer function of the caller it is the function's owner. So the tenant of the login itself always counts, together
-- with the tenant of the role that was set. If neither has one, all tenants count that the login is bound to through its groups.
--
-- Grants follow a role that is renamed, and a row of pawl_data.granted does not. It holds a name. An oid, or a type that is written as a
-- role's name, could not be restored from a dump where the role is missing. So a role that holds what every set holds, and that no row
-- names, is refused until it is granted under its name. A login that has no rights at all is refused, too: it comes through a security
-- definer function, whose owner may be bound.
--
-- The owner of the schema is never bound: it may read every table. Since PostgreSQL 16 a role that creates another is its member with the
-- admin option alone. Such a membership gives no right, so it does not bind.
create or replace function pawl._bound_tenant()
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_login oid;
    v_role oid;
    v_owner oid;
    v_tenants text[];
    v_known boolean;
begin
    -- Asked of the settings, which every verb reads: a claim or commit has no room for a lock on one more table.
    if not (select s.tenants_bound from pawl_data.setting s where s.only_row) then
        return null;
    end if;
    v_login := to_regrole(quote_ident(session_user));
    v_role := to_regrole(quote_ident(pawl._caller()));
    if v_role is null then
        -- The setting keeps the name under which a role was set, even if the role is renamed after that.
        -- guard:set_role_gone
        raise exception using errcode = '42501',
            message = format('role "%s", which was set, has been renamed or dropped', pawl._caller()),
            hint = 'Set the role again.';
    end if;
    v_owner := (select p.proowner from pg_proc p where p.oid = 'pawl.errors()'::regprocedure);
    with recursive role (oid, chosen) as (
        select v.oid, v.chosen from (values (v_role, true), (v_login, v_login = v_role)) v (oid, chosen)
        union
        select m.roleid, role.chosen
        from pg_auth_members m
        join role on m.member = role.oid
        -- 1. The owner, who has CREATEROLE, creates the role of tenant a and grants it that tenant. 2. The owner lists runs.
        -- Without the first condition the owner of a server before 16 that is a member of its tenants' roles, and without
        -- the second one every such owner and operator since 16, would be bound to tenant a.
        -- guard:owner_unbound
        where role.oid <> v_owner
          and pawl._is_usable(to_jsonb(m))
    )
    select coalesce(
               -- guard:tenant_of_login
               array_agg(distinct b.tenant) filter (where b.tenant is not null and (b.chosen or b.oid = v_login)),
               -- guard:tenant_kept
               array_agg(distinct b.tenant) filter (where b.tenant is not null)),
           bool_or(b.known)
    into v_tenants, v_known
    from (
        select role.oid, role.chosen,
               case
                   when role.oid = v_owner then null
                   when g.role_name is not null then g.tenant
                   -- guard:tenant_renamed
                   when (
                       select p.proacl @> makeaclitem(role.oid, v_owner, 'EXECUTE', false)
                       from pg_proc p
                       where p.oid = 'pawl.errors()'::regprocedure)
                   then chr(1) || 'renamed'
               end,
               g.role_name is not null or r.rolsuper or role.oid = v_owner
        from role
        join pg_roles r on r.oid = role.oid
        left join pawl_data.granted g on g.role_name = r.rolname
        -- Offset 0 keeps this subquery separate, so that a tenant is looked up once.
        offset 0
    ) b (oid, chosen, tenant, known);
    if chr(1) || 'renamed' = any (v_tenants) then
        raise exception using errcode = '42501',
            message = format('role "%s", or a role that it is a member of, has rights that were granted under another name', pawl._caller()),
            hint = 'As the owner, grant them under the new name, with the tenant if there is one: select pawl.grant_role(role, privilege_set, tenant).';
    end if;
    -- guard:tenant_stranger
    if not v_known and not exists (
        -- Rights that were granted by hand.
        select from pg_proc p
        cross join aclexplode(p.proacl) a
        where p.pronamespace = 'pawl'::regnamespace
          -- 1. The database is restored without ACLs, so PUBLIC may execute every function. 2. An administrator gives role A the use of the
          -- schema by hand. If what PUBLIC has counted as a right of A, A would be bound to no tenant, and see all.
          -- guard:tenant_public
          and case a.grantee when 0 then false
                             else pg_has_role(v_role, a.grantee, 'usage') or pg_has_role(v_login, a.grantee, 'usage') end) then
        -- The call came through a function of another role. That role may be bound, and nothing here shows which role it is.
        raise exception using errcode = '42501',
            message = format('role "%s" has no rights of its own here', pawl._caller()),
            hint = 'Roles are bound to tenants. As the owner, grant it what it needs: select pawl.grant_role(role, privilege_set, tenant).';
    end if;
    -- 1. A, the login of a pool that is a member of the roles of tenants a and b, triggers a run and forgot set role. 2. B,
    -- the login of a pool with tenants c and d, lists runs and forgot it, too. If both worked in one tenant with a name of
    -- its own, B would read A's input; if each worked in its first tenant, the run of b would be in a.
    -- guard:tenant_ambiguous
    if cardinality(v_tenants) > 1 then
        raise exception using errcode = '42501',
            message = format('role "%s" is bound to more than one tenant: choose one with set role', pawl._caller()),
            hint = 'Send "set role ROLE" with the role of one tenant before the call, or "reset role" if the login itself is bound.';
    end if;
    return v_tenants[1];
end
$$;
comment on function pawl._bound_tenant() is 'the tenant that the caller is bound to, or null';

create or replace function pawl._tenant(p_tenant text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bound text;
begin
    if p_tenant is null or octet_length(p_tenant) > 200 or p_tenant like chr(1) || '%' then
        -- guard:tenant_max
        perform pawl._raise('PW003', 'tenant must be a text of at most 200 bytes');
    end if;
    v_bound := pawl._bound_tenant();
    if v_bound is null or v_bound = p_tenant or p_tenant = '' then
        return coalesce(v_bound, p_tenant);
    end if;
    -- guard:tenant_bound
    perform pawl._raise('PW001', format('tenant "%s" not found', p_tenant));
    return null;
end
$$;
comment on function pawl._tenant(text) is 'the tenant a call works in: the one it names, or the one its role is bound to';

-- For verbs that affect all tenants.
create or replace function pawl._only_unbound(p_verb text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:only_unbound
    if pawl._bound_tenant() is not null then
        perform pawl._raise('PW007', format('pawl.%s concerns every tenant, and the role is bound to one', p_verb),
            'Call it as a role that is not bound to a tenant.');
    end if;
end
$$;
comment on function pawl._only_unbound(text) is 'refuses roles that are bound to one tenant';

