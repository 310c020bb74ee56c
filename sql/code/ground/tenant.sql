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

-- Whether the login, or the role that was set, may call a function by a right of its own. A security definer function of another role stands
-- between a caller and a verb without a trace, so what that role may do does not count. Nor does what PUBLIC may.
create or replace function pawl._may_call(p_verb text)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_login oid := to_regrole(quote_ident(session_user));
    v_role oid := to_regrole(quote_ident(pawl._caller()));
begin
    return coalesce((
        select pg_has_role(v_role, n.nspowner, 'usage') or pg_has_role(v_login, n.nspowner, 'usage')
        from pg_namespace n where n.nspname = 'pawl'), false)
        or exists (
            -- Rights that were granted by hand count, too.
            select from pg_proc p
            cross join aclexplode(p.proacl) a
            where p.pronamespace = 'pawl'::regnamespace and p.proname = p_verb
              -- 1. The database is restored without ACLs, so PUBLIC may execute every function. 2. An administrator gives role A the use of the
              -- schema by hand. If what PUBLIC has counted as a right of A, A would be bound to no tenant, and see all.
              -- guard:tenant_public
              and case a.grantee when 0 then false
                                 else pg_has_role(v_role, a.grantee, 'usage') or pg_has_role(v_login, a.grantee, 'usage') end)
        or exists (
            -- After such a restore, roles have the rights that they were granted.
            select from pawl_data.granted g
            join pg_roles r on r.rolname = g.role_name
            where (pg_has_role(v_role, r.oid, 'usage') or pg_has_role(v_login, r.oid, 'usage'))
              and p_verb = any (pawl._functions_of(g.privilege_set)));
end
$$;
comment on function pawl._may_call(text) is 'whether the caller has a right of its own to a function';

-- Returns the tenant that the caller is bound to, or null. Refuses a caller that may not call p_verb, which is null where a function has
-- checked it already. Membership is read from the catalog and not asked of pg_has_role(), which
-- returns true for everything to a superuser.
--
-- A role may choose among its tenants with set role, and cannot shed them. Rights are those of the current role, which set role does not
-- show. In a security definer function of the caller it is the function's owner. So the tenant of the login itself always counts, together
-- with the tenant of the role that was set. If neither has one, all tenants count that the login is bound to through its groups.
--
-- Grants follow a role that is renamed, and a row of pawl_data.granted does not. It holds a name. An oid, or a type that is written as a
-- role's name, could not be restored from a dump where the role is missing. So a role that holds what every set holds, and that no row
-- names, is refused until it is granted under its name.
--
-- A caller that has the rights of a gateway, in any of these ways, must say for whom it acts. A stamp only takes: what the login may not do,
-- the caller that it acts for may not do either.
--
-- The owner of the schema is never bound: it may read every table. Since PostgreSQL 16 a role that creates another is its member with the
-- admin option alone. Such a membership gives no right, so it does not bind.
create or replace function pawl._bound_tenant(p_verb text)
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
    v_gateway boolean;
    v_acting jsonb;
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
           -- guard:gateway_by_any_way
           bool_or(b.gateway)
    into v_tenants, v_gateway
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
               g.privilege_set is not distinct from 'gateway'
        from role
        join pg_roles r on r.oid = role.oid
        left join pawl_data.granted g on g.role_name = r.rolname
        -- Offset 0 keeps this subquery separate, so that a tenant is looked up once.
        offset 0
    ) b (oid, chosen, tenant, gateway);
    if chr(1) || 'renamed' = any (v_tenants) then
        raise exception using errcode = '42501',
            message = format('role "%s", or a role that it is a member of, has rights that were granted under another name', pawl._caller()),
            hint = 'As the owner, grant them under the new name, with the tenant if there is one: select pawl.grant_role(role, privilege_set, tenant).';
    end if;
    -- 1. A, a tenant's operator, owns a security definer function that lists runs, and is in no way known to it. 2. B, which has no right to
    -- that, calls the function: it would be bound to no tenant.
    -- guard:tenant_stranger
    if p_verb is not null and not pawl._may_call(p_verb) then
        raise exception using errcode = '42501',
            message = format('role "%s" has no right of its own to pawl.%s', pawl._caller(), p_verb),
            hint = 'Callers have to have rights of their own where roles are bound to tenants or are gateways. As the owner, grant it what it needs: select pawl.grant_role(role, privilege_set, tenant).';
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
    v_acting := pawl._acting();
    if v_acting is not null then
        return pawl._acting_tenant(v_acting, v_tenants[1], p_verb);
    end if;
    if v_gateway then
        -- guard:gateway_must_act
        raise exception using errcode = '42501', message = format('role "%s" is a gateway, and has not said for whom it acts', pawl._caller()),
            hint = 'Call pawl.act_as_token(digest) first, in the same transaction.';
    end if;
    return v_tenants[1];
end
$$;
comment on function pawl._bound_tenant(text) is 'the tenant that the caller is bound to, or null';

-- The tenant of a caller that acts for a token, out of that of the token and the one that the login is bound to.
create or replace function pawl._acting_tenant(p_acting jsonb, p_bound text, p_verb text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_tenant text := p_acting ->> 'tenant';
begin
    if p_verb is not null then
        perform pawl._only_rights(p_acting, p_verb);
    end if;
    if p_bound <> v_tenant then
        -- guard:acting_other_tenant
        raise exception using errcode = '42501', message = format('%s works in another tenant than role "%s"', p_acting ->> 'who', pawl._caller());
    end if;
    -- guard:acting_tenant
    return coalesce(p_bound, v_tenant);
end
$$;
comment on function pawl._acting_tenant(jsonb, text, text) is 'the tenant of a caller that acts for a token';

create or replace function pawl._tenant(p_tenant text, p_verb text)
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
    v_bound := pawl._bound_tenant(p_verb);
    if v_bound is null or v_bound = p_tenant or p_tenant = '' then
        return coalesce(v_bound, p_tenant);
    end if;
    -- guard:tenant_bound
    perform pawl._raise('PW001', format('tenant "%s" not found', p_tenant));
    return null;
end
$$;
comment on function pawl._tenant(text, text) is 'the tenant a call works in: the one it names, or the one its role is bound to';

-- For verbs that affect all tenants.
create or replace function pawl._only_unbound(p_verb text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:only_unbound
    if pawl._bound_tenant(p_verb) is not null then
        perform pawl._raise('PW007', format('pawl.%s concerns every tenant, and the role is bound to one', p_verb),
            'Call it as a role that is not bound to a tenant.');
    end if;
end
$$;
comment on function pawl._only_unbound(text) is 'refuses roles that are bound to one tenant';

