-- SPDX-License-Identifier: Apache-2.0
-- Notifications: hints that make an idle worker look at once instead of at its next poll. Nothing depends on one.

create or replace function pawl._notify_usage_max()
returns double precision
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return 0.25;
end
$$;
comment on function pawl._notify_usage_max() is 'how full the notification queue of the server may be before calls stop to notify';

-- The only place that notifies.
create or replace function pawl._hint(p_session bigint, p_payload text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_notify boolean;
    v_on text[];
    v_off text[];
begin
    select s.notify, s.notify_on, s.notify_off into v_notify, v_on, v_off from pawl_data.setting s where s.only_row;
    if v_on <> '{}' or v_off <> '{}' then
        -- The login and the role that it has set. Only the operator decides here: a caller cannot change what its role was given.
        -- guard:notify_role
        v_notify := case when array[session_user::text, pawl._caller()] && v_off then false
                         when array[session_user::text, pawl._caller()] && v_on then true
                         else v_notify end;
    end if;
    -- 1. A worker is idle. 2. A triggers a run and calls PREPARE TRANSACTION. 3. PostgreSQL prepares no transaction that has notified,
    -- so A would fail, and only while a worker is idle. With notify off A never notifies, and the worker finds the run at its next poll.
    -- guard:notify_off
    if not v_notify then
        return;
    end if;
    -- 1. B, any login, listens in a transaction that it leaves open, and notifies: the queue of the server fills up. 2. A triggers a run.
    -- 3. The commit of a transaction that has notified fails while the queue is full, so A would lose its order for the sake of a hint.
    -- Left is a transaction that notified and stays open while three quarters of the queue (of 8 GB, unless set otherwise) fill up.
    -- guard:notify_queue
    if pg_notification_queue_usage() > pawl._notify_usage_max() then
        return;
    end if;
    perform pg_notify('pawl_' || p_session, p_payload);
end
$$;
comment on function pawl._hint(bigint, text) is 'notifies the worker of a session, if the caller''s transaction may notify';

create or replace function pawl.set_notify(notify text default null, role_name name default null, by text default null)
returns table (role text, value text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform pawl._only_read_committed('set_notify');
    perform pawl._only_unbound('set_notify');
    if set_notify.notify not in ('on', 'off', 'default') or set_notify.notify = 'default' and role_name is null then
        -- guard:notify_value
        perform pawl._raise('PW003', format('notify cannot be "%s"', set_notify.notify),
            'It is on or off, and for a role also default: as the database.');
    end if;
    if set_notify.notify <> 'default' and role_name is not null
       and not exists (select from pg_roles r where r.rolname = role_name) then
        -- guard:notify_role_exists
        perform pawl._raise('PW001', format('role "%s" does not exist', role_name), 'Create it first; pawl creates no roles.');
    end if;
    if set_notify.notify is not null then
        update pawl_data.setting s
        set notify = case when role_name is null then set_notify.notify = 'on' else s.notify end,
            notify_on = array_remove(s.notify_on, role_name::text)
                        || array(select role_name::text where role_name is not null and set_notify.notify = 'on'),
            notify_off = array_remove(s.notify_off, role_name::text)
                         || array(select role_name::text where role_name is not null and set_notify.notify = 'off')
        where s.only_row;
        insert into pawl_data.action (at, what, who, detail)
        values (pawl.now(), 'set_notify', coalesce(by, pawl._caller()),
                json_build_object('notify', set_notify.notify, 'role', role_name));
    end if;
    return query
    select v.role, v.value
    from pawl_data.setting s
    cross join lateral (
        select null, case when s.notify then 'on' else 'off' end
        union all
        select o, 'on' from unnest(s.notify_on) o
        union all
        select o, 'off' from unnest(s.notify_off) o
    ) v (role, value)
    where s.only_row
    order by v.role nulls first;
end
$$;
comment on function pawl.set_notify(text, name, text) is
'Sets whether calls notify idle workers (on, off), for the database or for one role, and returns the values in force: first that of the database, whose role is null, then those of roles; without arguments only returns them. With off, calls of the role send no notification, workers find the work at their next poll, and PREPARE TRANSACTION works after every call. A role''s value precedes that of the database, and default removes it. It counts for calls of a session that logged in as the role or has set it; if the two differ, off counts. It is kept under the role''s name.
If repeated: does the same again.
Locks: the row of settings.
Errors: PW001 no such role, PW003 not on, off or default, PW007 the role is bound to one tenant, PW008 isolation level.
Limits: the cost is constant.';

-- Whether a live worker handles the queue for this tenant, and one notification if an idle one does.
create or replace function pawl._wake_one(p_queue int, p_tenant text, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_idle bigint;
begin
    select w.session_id into v_idle
    from pawl_data.worker w
    where w.idle and w.ended_at is null and w.lease_until > p_now
      -- Offset 0: one look for each idle session, whatever statistics say.
      and exists (select from pawl_data.worker_queue h where h.queue_id = p_queue and h.session_id = w.session_id offset 0)
      -- guard:wake_tenant
      and (w.tenant is null or w.tenant = p_tenant)
    limit 1;
    if v_idle is not null then
        perform pawl._hint(v_idle, '');
        return true;
    end if;
    return pawl._is_handled(p_queue, p_tenant, p_now);
end
$$;
comment on function pawl._wake_one(int, text, timestamptz) is 'notifies one idle worker of a queue that may take runs of the tenant, if there is one';
