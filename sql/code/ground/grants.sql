-- SPDX-License-Identifier: Apache-2.0
-- Rights: five sets of functions that one call grants to a role that exists. After all other functions: makes the privileges on
-- schema, tables, sequences and functions what pawl_data.granted says, and takes all others from PUBLIC and from every role.

-- Which functions make a set. Everybody who has any set may also read the clock and the list of errors.
create or replace function pawl._functions_of(p_set text)
returns text[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- A gateway has the functions of its callers, and the one with which it says for whom it calls them.
    if p_set = 'gateway' then
        return pawl._functions_of('producer') || pawl._functions_of('operator') || pawl._functions_of('reader') || 'act_as_token'::text;
    end if;
    return array['now', 'errors', 'make_id', 'slot_of', 'epoch'] || case p_set
        when 'producer' then array['trigger', 'trigger_many', 'emit', 'signal', 'get_run', 'result', 'results', 'cancel', 'why']
        when 'worker' then array['register', 'heartbeat', 'rest', 'pass_on', 'leave', 'claim', 'held', 'commit', 'commit_each',
            'step', 'complete', 'fail', 'sleep', 'wait_event', 'wait_signal', 'release', 'step_token', 'record_step',
            'get_run', 'result', 'results', 'tick', '_tick_begins', '_tick_piece']
        when 'operator' then array['create_workflow', 'alter_workflow', 'create_flow', 'add_step', 'apply_flow', 'delete_flow', 'cancel', 'kill', 'pause', 'resume', 'wake', 'retry',
            'rollback_retry', 'rollback_skip', 'fork', 'purge', 'pause_workflow', 'resume_workflow', 'pause_all', 'resume_all', 'preview_bulk', 'begin_bulk', 'stop_bulk', 'pause_queue',
            'resume_queue', 'drain_worker', 'raise_epoch', 'set_retention', 'set_session_limit', 'set_notify', 'set_lane', 'pause_lane', 'resume_lane',
            'create_schedule', 'pause_schedule', 'resume_schedule', 'delete_schedule', 'backfill_schedule',
            'create_subscription', 'pause_subscription', 'resume_subscription', 'delete_subscription', 'list_subscriptions', 'create_token', 'revoke_token', 'list_tokens', 'housekeep', 'tick', '_tick_begins', '_tick_piece', 'signal', 'emit', 'approve', 'reject',
            'get_run', 'result', 'results', 'list_runs', 'history', 'notes', 'follow', 'list_waits', 'list_queues', 'list_lanes', 'list_pauses', 'list_bulks', 'list_workers',
            'list_workflows', 'get_workflow', 'list_steps', 'list_children', 'list_failures', 'count_runs', 'find', 'list_states', 'list_ended', 'list_events', 'list_schedules', 'list_skips', 'preview_schedule', 'why_schedule',
            'metrics', 'prometheus', 'list_actions', 'list_grants', 'why', 'doctor']
        when 'reader' then array['get_run', 'result', 'results', 'list_runs', 'history', 'notes', 'follow', 'list_waits', 'list_queues', 'list_lanes', 'list_pauses', 'list_bulks',
            'list_workers', 'list_workflows', 'get_workflow', 'list_steps', 'list_children', 'list_failures', 'count_runs', 'find', 'list_states', 'list_ended', 'list_events', 'list_schedules', 'list_skips', 'preview_schedule', 'why_schedule',
            'metrics', 'prometheus', 'list_actions', 'list_grants', 'why', 'doctor']
        end;
end
$$;
comment on function pawl._functions_of(text) is 'names of the functions that a privilege set holds';

-- Where the privileges on the engine's objects differ from pawl_data.granted, which alone says what a role may do. Surplus privileges were given
-- by hand, by default privileges for new objects, or to PUBLIC (grantee 0) by a restore without ACLs. Missing ones were granted. A privilege
-- with the grant option is surplus, because grant_role() gives none. Objects of another owner are not listed: the owner of the schema
-- cannot change them.
create or replace function pawl._privileges_that_differ()
returns table (surplus boolean, kind text, object oid, grantee oid, privilege text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    with held (kind, object, owner, grantee, privilege, grantable) as (
        select 'schema', n.oid, n.nspowner, a.grantee, a.privilege_type, a.is_grantable
        from pg_namespace n
        cross join aclexplode(n.nspacl) a
        where n.nspname in ('pawl', 'pawl_data')
        union all
        select case c.relkind when 'S' then 'sequence' else 'table' end, c.oid, c.relowner, a.grantee, a.privilege_type, a.is_grantable
        from pg_class c
        cross join aclexplode(c.relacl) a
        where c.relnamespace in ('pawl'::regnamespace, 'pawl_data'::regnamespace)
        union all
        select 'table', c.oid, c.relowner, a.grantee, a.privilege_type, a.is_grantable
        from pg_class c
        join pg_attribute t on t.attrelid = c.oid and t.attacl is not null
        cross join aclexplode(t.attacl) a
        where c.relnamespace in ('pawl'::regnamespace, 'pawl_data'::regnamespace)
        union all
        -- A function without an ACL is executable by PUBLIC.
        select 'routine', p.oid, p.proowner, a.grantee, a.privilege_type, a.is_grantable
        from pg_proc p
        cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where p.pronamespace = 'pawl'::regnamespace
    ), due (kind, object, grantee, privilege) as (
        select 'schema', 'pawl'::regnamespace::oid, r.oid, 'USAGE'
        from pawl_data.granted g
        join pg_roles r on r.rolname = g.role_name
        union
        select 'routine', p.oid, r.oid, 'EXECUTE'
        from pawl_data.granted g
        join pg_roles r on r.rolname = g.role_name
        join pg_proc p on p.pronamespace = 'pawl'::regnamespace and p.proname = any (pawl._functions_of(g.privilege_set))
    ), owner (oid) as (
        select n.nspowner from pg_namespace n where n.nspname = 'pawl'
    )
    select true, h.kind, h.object, h.grantee, h.privilege
    from held h
    join owner o on o.oid = h.owner and o.oid <> h.grantee
    where h.grantable or not exists (
        select from due d
        where d.kind = h.kind and d.object = h.object and d.grantee = h.grantee and d.privilege = h.privilege)
    union
    select false, d.kind, d.object, d.grantee, d.privilege
    from due d
    join owner o on o.oid <> d.grantee
    where not exists (
        select from held h
        where h.kind = d.kind and h.object = d.object and h.grantee = d.grantee and h.privilege = d.privilege);
end
$$;
comment on function pawl._privileges_that_differ() is 'privileges that no grant names, and granted ones that a role lacks';

-- Makes the privileges what pawl_data.granted says. The caller holds the lock of _hold_grants().
create or replace function pawl._set_privileges()
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v record;
begin
    -- 1. The database is restored without ACLs, or the owner has default privileges: PUBLIC, or a role of analysts, may execute
    -- every function. 2. The owner grants a role the set reader, and with it the use of the schema. Unless all surplus
    -- privileges go in the same transaction, that role could execute grant_role().
    -- guard:rights_surplus
    for v in select distinct d.kind, d.object, d.grantee from pawl._privileges_that_differ() d where d.surplus loop
        -- Dynamic because neither an object nor a role can be a parameter of revoke; so are the others.
        case v.kind
            when 'schema' then
                execute format('revoke all on schema %s from %s cascade', v.object::regnamespace, pawl._grantee(v.grantee));
            when 'sequence' then execute format('revoke all on sequence %s from %s cascade', v.object::regclass, pawl._grantee(v.grantee));
            when 'routine' then execute format('revoke all on routine %s from %s cascade', v.object::regprocedure, pawl._grantee(v.grantee));
            else execute format('revoke all on table %s from %s cascade', v.object::regclass, pawl._grantee(v.grantee));
        end case;
    end loop;
    -- 1. Role A is granted a set. 2. The database is restored without ACLs. 3. The owner installs. Without this A has no right to its
    -- functions, nor what the first loop took from it together with a surplus privilege.
    -- guard:rights_missing
    for v in select d.kind, d.object, d.grantee from pawl._privileges_that_differ() d where not d.surplus loop
        if v.kind = 'schema' then
            -- Dynamic for the same reason.
            execute format('grant usage on schema pawl to %s', pawl._grantee(v.grantee));
        else
            -- Dynamic for the same reason.
            execute format('grant execute on routine %s to %s', v.object::regprocedure, pawl._grantee(v.grantee));
        end if;
    end loop;
    insert into pawl_data.bound_tenant (tenant)
    select distinct g.tenant from pawl_data.granted g where g.tenant is not null
    on conflict on constraint bound_tenant_pkey do nothing;
    perform pawl._note_bound();
end
$$;
comment on function pawl._set_privileges() is 'takes privileges that no grant names, and gives granted ones that a role lacks';

-- Notes whether callers have to be looked up. The caller holds the lock of _hold_grants().
create or replace function pawl._note_bound()
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_all_seen boolean := true;
begin
    if exists (select from pawl_data.granted g where g.tenant is not null or g.privilege_set = 'gateway') then
        perform pawl._look_up_callers();
        return;
    end if;
    if not (select s.tenants_bound from pawl_data.setting s where s.only_row) then
        return;
    end if;
    -- 1. A creates a token, and sees that callers are looked up. 2. B revokes the last gateway. 3. A commits. B does not see A's token, so
    -- callers would not be looked up though there is a token. With the lock B sees all tokens, or leaves it as it is; a later token waits
    -- for B. B waits for no other transaction, because an operator's could stay open.
    -- guard:token_seen
    begin
        lock table pawl_data.token in share mode nowait;
    exception
        when lock_not_available then
            v_all_seen := false;
    end;
    update pawl_data.setting s
    set tenants_bound = false
    -- The owner, too, can act for a token.
    -- guard:token_binds
    where s.only_row and v_all_seen and not exists (select from pawl_data.token);
end
$$;
comment on function pawl._note_bound() is 'notes whether callers have to be looked up';

-- From the commit on, callers are looked up. Locks the row only if they were not.
create or replace function pawl._look_up_callers()
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.setting s set tenants_bound = true where s.only_row and not s.tenants_bound;
end
$$;
comment on function pawl._look_up_callers() is 'notes that callers have to be looked up';

-- Lets one grant run at a time. 1. A and B grant. 2. B waits for A, to write whether any role is bound. 3. If B waits only in the statement
-- that writes it, that statement still sees the grants as they were before A. So B would write an outdated value.
create or replace function pawl._hold_grants()
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:grants_one_at_a_time
    perform from pawl_data.setting s where s.only_row for update;
end
$$;
comment on function pawl._hold_grants() is 'waits until no other grant is in progress, and makes later grants wait';

-- Only the owner may execute grant_role() and revoke_role(); a function of the owner may call them for another role. If any other role may
-- execute them, a restore without ACLs, default privileges or a grant by hand gave it that.
create or replace function pawl._only_granter(p_verb text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_acting jsonb := pawl._acting();
begin
    -- The owner, too, can act for a token.
    -- guard:grant_acting
    if v_acting is not null then
        perform pawl._only_rights(v_acting, p_verb);
    end if;
    -- 1. The database is restored without ACLs, so PUBLIC may execute every function. 2. An administrator gives role A the
    -- use of the schema by hand, because its calls are refused. 3. A grants itself the set operator.
    -- guard:grant_open
    if exists (
        select from pawl._privileges_that_differ() d
        join pg_proc p on p.oid = d.object and p.proname = p_verb
        where d.surplus and d.kind = 'routine')
       and not pg_has_role(pawl._caller(), (select n.nspowner from pg_namespace n where n.nspname = 'pawl'), 'usage') then
        raise exception using errcode = '42501',
            message = format('only the owner of schema pawl may call pawl.%s', p_verb),
            hint = 'The privileges on the schema are not what was granted. As the owner, install pawl again.';
    end if;
end
$$;
comment on function pawl._only_granter(text) is 'refuses a caller that may execute a function of the owner by mistake';

create or replace function pawl.grant_role(role_name name, privilege_set text, tenant text default null)
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed('grant_role');
    perform pawl._only_granter('grant_role');
    perform pawl._hold_grants();
    if privilege_set is null or privilege_set not in ('producer', 'worker', 'operator', 'reader', 'gateway') then
        -- guard:grant_rights
        perform pawl._raise('PW003', format('unknown privilege set "%s"', privilege_set), 'Use one of producer, worker, operator, reader, gateway.');
    end if;
    if not exists (select from pg_roles r where r.rolname = role_name) then
        -- guard:grant_role_exists
        perform pawl._raise('PW001', format('role "%s" does not exist', role_name), 'Create it first; pawl creates no roles.');
    end if;
    if (tenant is not null or privilege_set = 'gateway') and role_name = (select pg_get_userbyid(n.nspowner) from pg_namespace n where n.nspname = 'pawl') then
        -- guard:grant_owner
        perform pawl._raise('PW003', format('role "%s" owns schema pawl and cannot be bound to a tenant or be a gateway', role_name),
            'Grant it to another role.');
    end if;
    if privilege_set = 'gateway' and tenant is not null then
        -- guard:grant_gateway_tenant
        perform pawl._raise('PW003', 'a gateway cannot be bound to a tenant', 'Bind its tokens: select pawl.create_token(name, digest, rights, tenant).');
    end if;
    -- 1. A role is a gateway and an operator. 2. It forgets to say for whom it acts. It would be refused, or, if its rights as an operator
    -- counted, its callers could do everything.
    -- guard:grant_gateway_alone
    if exists (select from pawl_data.granted g where g.role_name = grant_role.role_name and (g.privilege_set = 'gateway') <> (grant_role.privilege_set = 'gateway')) then
        perform pawl._raise('PW003', format('role "%s" cannot be a gateway and have other privilege sets', role_name), 'Grant it to another role.');
    end if;
    insert into pawl_data.granted as g (role_name, privilege_set, tenant) values (grant_role.role_name, grant_role.privilege_set, grant_role.tenant)
    on conflict on constraint granted_pkey do update set tenant = excluded.tenant;
    perform pawl._set_privileges();
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'grant_role', pawl._caller(), json_build_object('role', role_name, 'privilege_set', privilege_set, 'tenant', tenant));
end
$$;
comment on function pawl.grant_role(name, text, text) is
'Grants a privilege set (producer, worker, operator, reader, gateway) to a role that exists, and binds the role to one tenant if given: it then works in that tenant only, and finds nothing of any other. A role with the set gateway may call nothing but act_as_token() before it has called that in the same transaction, and has no other set. Makes all privileges on the schema what was granted: takes what PUBLIC or a role has by hand, by default privileges or since a restore without ACLs, and gives granted roles what they lack. A role that is renamed must be granted again under its new name; until then, if any role is bound to a tenant, its calls are refused (42501), and the next grant or install takes its rights. Only the owner of the schema may call it. No table right is ever granted.
If repeated: does the same again, with the tenant of the second call.
Locks: the row of settings, until the end of the transaction: other grants wait.
Errors: PW001 no such role, PW003 no such set, the owner of the schema or a gateway with a tenant, or a gateway with another set, PW008 isolation level; 42501 the caller is not the owner.
Limits: the cost is constant.';

create or replace function pawl.revoke_role(role_name name, privilege_set text)
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed('revoke_role');
    perform pawl._only_granter('revoke_role');
    perform pawl._hold_grants();
    delete from pawl_data.granted g where g.role_name = revoke_role.role_name and g.privilege_set = revoke_role.privilege_set;
    if not found then
        perform pawl._raise('PW001', format('role "%s" was not granted %s', role_name, privilege_set));
    end if;
    perform pawl._set_privileges();
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'revoke_role', pawl._caller(), json_build_object('role', role_name, 'privilege_set', privilege_set));
end
$$;
comment on function pawl.revoke_role(name, text) is
'Takes a privilege set from a role; other sets that it has stay. A name that is no role''s any more is forgotten. Makes all privileges on the schema what was granted, as grant_role() does.
If repeated: raises PW001.
Locks: the row of settings, until the end of the transaction: other grants wait.
Errors: PW001 the role does not have the set, PW008 isolation level; 42501 the caller is not the owner.
Limits: the cost is constant.';

create or replace function pawl.list_grants()
returns table (role_name text, privilege_set text, tenant text, role_exists boolean)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    -- guard:list_grants_unbound
    perform pawl._only_unbound('list_grants');
    return query
    select g.role_name::text, g.privilege_set, g.tenant, exists (select from pg_roles r where r.rolname = g.role_name)
    from pawl_data.granted g
    order by g.role_name, g.privilege_set
    limit 10000;
end
$$;
comment on function pawl.list_grants() is
'The privilege sets that were granted, by role, with the tenant that the role is bound to (null: it is bound to none). role_exists is false for a name that no role has any more, because the role was dropped or renamed.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW007 the role is bound to one tenant.
Limits: 10,000 rows.';

-- In blocks, so that psql prints nothing for them.
do $$
begin
    perform pawl._make_partitions(pawl.now());
end
$$;

do $$
begin
    perform pawl._hold_grants();
    perform pawl._set_privileges();
end
$$;
