-- SPDX-License-Identifier: Apache-2.0
-- Rights: four sets of functions that one call grants to a role that exists. After all other functions: takes
-- everything from PUBLIC and gives granted roles their functions again.

-- Which functions make a set. Everybody who has any set may also read the clock and the list of errors.
create or replace function pawl._rights(p_rights text)
returns text[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array['now', 'errors', 'make_id', 'slot_of', 'epoch'] || case p_rights
        when 'producer' then array['trigger', 'trigger_many', 'emit', 'signal', 'get_run', 'result', 'cancel', 'why']
        when 'worker' then array['register', 'heartbeat', 'idle', 'leave', 'claim', 'held', 'commit', 'commit_carefully',
            'step', 'complete', 'fail', 'sleep', 'wait_event', 'wait_signal', 'release', 'step_token', 'record_step',
            'get_run', 'result']
        when 'operator' then array['create_workflow', 'alter_workflow', 'create_flow', 'add_step', 'apply_flow', 'delete_flow', 'cancel', 'kill', 'pause', 'resume', 'retry',
            'rollback_retry', 'rollback_skip', 'fork', 'purge', 'pause_workflow', 'resume_workflow', 'pause_queue',
            'resume_queue', 'drain_worker', 'raise_epoch', 'set_retention', 'housekeep', 'signal', 'emit', 'approve', 'reject',
            'get_run', 'result', 'list_runs', 'history', 'notes', 'list_waits', 'list_queues', 'list_workers',
            'list_workflows', 'list_steps', 'list_children', 'list_events', 'metrics', 'list_acts', 'why', 'doctor']
        when 'reader' then array['get_run', 'result', 'list_runs', 'history', 'notes', 'list_waits', 'list_queues',
            'list_workers', 'list_workflows', 'list_steps', 'list_children', 'list_events', 'metrics', 'list_acts', 'why', 'doctor']
        end;
end
$$;
comment on function pawl._rights(text) is 'names of the functions that a set of rights holds';

create or replace function pawl._apply_grant(p_role name, p_rights text, p_give boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_function regprocedure;
begin
    for v_function in
        select p.oid::regprocedure
        from pg_proc p
        where p.pronamespace = 'pawl'::regnamespace and p.proname = any (pawl._rights(p_rights))
    loop
        if p_give then
            -- Dynamic because a role cannot be a parameter of grant.
            execute format('grant execute on function %s to %I', v_function, p_role);
        else
            -- Dynamic for the same reason.
            execute format('revoke execute on function %s from %I', v_function, p_role);
        end if;
    end loop;
end
$$;
comment on function pawl._apply_grant(name, text, boolean) is 'gives or takes the functions of one set';

-- One grant at a time. Whether any role is bound is written from what is seen of all grants, and who waited for the row only in the
-- statement that writes it would write what was so before the wait.
create or replace function pawl._hold_grants()
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:grants_one_at_a_time
    perform from pawl.setting s where s.only_row for update;
end
$$;
comment on function pawl._hold_grants() is 'waits until no other grant is under way, and keeps others waiting';

create or replace function pawl.grant_role(role_name name, rights text, tenant text default null)
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed('grant_role');
    perform pawl._hold_grants();
    if rights is null or rights not in ('producer', 'worker', 'operator', 'reader') then
        -- guard:grant_rights
        perform pawl._raise('PW003', format('unknown set of rights "%s"', rights), 'It is one of producer, worker, operator, reader.');
    end if;
    if not exists (select from pg_roles r where r.rolname = role_name) then
        -- guard:grant_role_exists
        perform pawl._raise('PW001', format('role "%s" does not exist', role_name), 'Create it first; pawl creates no roles.');
    end if;
    insert into pawl.granted as g (role_name, rights, tenant) values (grant_role.role_name, grant_role.rights, grant_role.tenant)
    on conflict on constraint granted_pkey do update set tenant = excluded.tenant;
    update pawl.setting s
    set tenants_bound = exists (select from pawl.granted g where g.tenant is not null)
    where s.only_row;
    -- Dynamic because a role cannot be a parameter of grant.
    execute format('grant usage on schema pawl to %I', role_name);
    perform pawl._apply_grant(role_name, rights, true);
    insert into pawl.act (at, what, who, detail)
    values (pawl.now(), 'grant_role', pawl._caller(), json_build_object('role', role_name, 'rights', rights, 'tenant', tenant));
end
$$;
comment on function pawl.grant_role(name, text, text) is
'Grants a set of rights (producer, worker, operator, reader) to a role that exists, and binds the role to one tenant if given: it then works in that tenant only, and finds nothing of any other. A role that is renamed has to be granted again under its new name; until then, if any role is bound to a tenant, its calls are refused (42501). Only the owner of the schema may call it. No table right is ever granted.
Twice: the same again, with the tenant of the second call.
Locks: the row of settings, until the end of the transaction: other grants wait.
Errors: PW001 no such role, PW003 no such set, PW008 isolation level.
Bound: constant.';

create or replace function pawl.revoke_role(role_name name, rights text)
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_other text;
begin
    perform pawl._only_read_committed('revoke_role');
    perform pawl._hold_grants();
    delete from pawl.granted g where g.role_name = revoke_role.role_name and g.rights = revoke_role.rights;
    if not found then
        perform pawl._raise('PW001', format('role "%s" was not granted %s', role_name, rights));
    end if;
    update pawl.setting s
    set tenants_bound = exists (select from pawl.granted g where g.tenant is not null)
    where s.only_row;
    -- A role that is gone, or has another name now, leaves its row behind.
    if exists (select from pg_roles r where r.rolname = revoke_role.role_name) then
        perform pawl._apply_grant(role_name, rights, false);
        for v_other in select g.rights from pawl.granted g where g.role_name = revoke_role.role_name loop
            perform pawl._apply_grant(role_name, v_other, true);
        end loop;
    end if;
    insert into pawl.act (at, what, who, detail)
    values (pawl.now(), 'revoke_role', pawl._caller(), json_build_object('role', role_name, 'rights', rights));
end
$$;
comment on function pawl.revoke_role(name, text) is
'Takes a set of rights from a role; other sets that it has stay. A name that is no role''s any more is forgotten, and nothing is taken from the role that had it.
Twice: PW001.
Locks: the row of settings, until the end of the transaction: other grants wait.
Errors: PW001 the role does not have the set, PW008 isolation level.
Bound: constant.';

-- In blocks, so that psql prints nothing for them.
do $$
begin
    perform pawl._make_partitions(pawl.now());
end
$$;

revoke all on schema pawl from public;
revoke all on all tables in schema pawl from public;
revoke all on all sequences in schema pawl from public;
revoke all on all functions in schema pawl from public;

do $$
begin
    perform pawl._apply_grant(g.role_name, g.rights, true)
    from pawl.granted g
    where exists (select from pg_catalog.pg_roles r where r.rolname = g.role_name);
end
$$;
