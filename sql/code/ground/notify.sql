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

create or replace function pawl._listeners_max()
returns int
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return 64;
end
$$;
comment on function pawl._listeners_max() is 'how many sessions of the database listen for notifications';

-- Whether the caller's transaction may notify.
create or replace function pawl._may_notify()
returns boolean
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
        return false;
    end if;
    -- 1. B, any login, listens in a transaction that it leaves open, and notifies: the queue of the server fills up. 2. A triggers a run.
    -- 3. The commit of a transaction that has notified fails while the queue is full, so A would lose its order for the sake of a hint.
    -- Left is a transaction that notified and stays open while three quarters of the queue (of 8 GB, unless set otherwise) fill up.
    -- guard:notify_queue
    if pg_notification_queue_usage() > pawl._notify_usage_max() then
        return false;
    end if;
    return true;
end
$$;
comment on function pawl._may_notify() is 'whether the caller''s transaction may notify';

-- The only place that notifies.
create or replace function pawl._hint(p_session bigint, p_payload text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if pawl._may_notify() then
        perform pg_notify('pawl_' || p_session, p_payload);
    end if;
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
        values (pawl.now(), 'set_notify', pawl._by(by),
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

-- Ringing. PostgreSQL takes one lock of the whole server before a transaction that has notified commits, and keeps it until that is on
-- disk: of 32 producers that all notify, 31 wait. So at most one transaction notifies at a time, and others leave it at that: the worker that is
-- notified looks again shortly, and passes on what it leaves (pass_on()). Nothing here waits, and nothing is promised: a worker that was not
-- notified finds the run at its next poll.

-- Up to p_max sessions that listen, handle the queue and may take runs of the tenant, in random order. One that has been silent for half of
-- its lease may be dead: a live one renews its lease after a third of it.
create or replace function pawl._listeners(p_queue int, p_tenant text, p_but bigint, p_max int, p_now timestamptz)
returns table (session_id bigint, since timestamptz)
language plpgsql
volatile
rows 2
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    return query
    select w.session_id, w.listens_since
    from pawl_data.worker w
    where w.listens and w.ended_at is null and w.session_id <> p_but
      -- guard:ring_fresh
      and w.lease_until - p_now > w.lease / 2
      -- Offset 0: one look for each session, whatever statistics say.
      and exists (select from pawl_data.worker_queue h where h.queue_id = p_queue and h.session_id = w.session_id offset 0)
      -- guard:wake_tenant
      and (w.tenant is null or w.tenant = p_tenant)
    order by random()
    limit p_max;
end
$$;
comment on function pawl._listeners(int, text, bigint, int, timestamptz) is 'sessions that can be notified of a run';

-- A tenant's mark on a clock: 12 bits. They change every second, so that no two tenants share them for long, and without the secret no caller
-- can name a tenant that shares them.
create or replace function pawl._bell_mark(p_us bigint, p_tenant text)
returns bigint
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select hashtextextended(concat(s.lock_secret, '/', p_us >> 20, '/', p_tenant), 0) & 4095
        from pawl_data.setting s where s.only_row);
end
$$;
comment on function pawl._bell_mark(bigint, text) is 'the bits that stand for a tenant on a clock of a bell';

-- 1. A, a producer of one tenant, triggers runs in statements that each last 45 ms, and has locked the row of bell nearly all the time. 2. B,
-- of another tenant, triggers a run. The worker that A notifies may be bound to A's tenant, and would not pass on the run of B. So B may
-- notify, too. PostgreSQL lets transactions that have notified commit one after the other: so only one of these at a time, and, of the
-- tenants of one clock, one in 20 ms.
create or replace function pawl._take_tenant_bell(p_us bigint, p_tenant text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_no int := 1 + pawl._bell_mark(p_us, p_tenant) % 3;
    v_clock regclass := 'pawl_data.tenant_bell_clock_' || v_no;
    v_ago bigint := p_us - (coalesce(pg_sequence_last_value(v_clock), 0) >> 12);
begin
    -- guard:tenant_bell_recent
    if v_ago <= 20000 and v_ago > -1000000 then
        return false;
    end if;
    perform from pawl_data.tenant_bell b for update skip locked;
    -- 150 ms, and not 50 as in _ring(): for so long a worker that is notified looks again.
    -- guard:tenant_bell_one
    if not found
       -- guard:tenant_bell_hangs
       and v_ago <= 150000 and v_ago > -1000000 then
        return false;
    end if;
    perform setval(v_clock, p_us << 12);
    return true;
end
$$;
comment on function pawl._take_tenant_bell(bigint, text) is 'whether a transaction may notify while another tenant''s has locked bell';

-- Notifies one worker of a queue, unless another transaction has just done so, or is about to. p_passed_on: by a worker that leaves more
-- than it took; p_but is its session.
create or replace function pawl._ring(p_queue int, p_tenant text, p_passed_on boolean, p_but bigint)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Real time, not pawl.now(): a test clock may stand still.
    v_us bigint := (date_part('epoch', clock_timestamp()) * 1000000)::bigint;
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
    v_last bigint := (select c.last_value from pawl_data.bell_clock c);
    v_ago bigint := v_us - (v_last >> 12);
    -- Whether the last one was notified of this queue. A worker that is bound passes on tasks of its tenant alone: so where tenants are bound,
    -- whether it was notified for this tenant.
    -- guard:ring_mark
    v_same boolean := (v_last & 4095) = case when v_bound then pawl._bell_mark(v_last >> 12, p_tenant) else p_queue & 4095 end;
    v_recent boolean := v_ago <= 2000 and v_ago > -1000000;
    -- 1. A notifies, and its commit hangs: a standby does not answer. 2. B triggers a run. Without this no worker would be notified of
    -- anything until A ends.
    -- guard:ring_hangs
    v_hangs boolean := v_ago > 50000 or v_ago <= -1000000;
    -- A transaction of pass_on() writes nothing: its commit waits for no disk, and keeps no other waiting. A lock would make it write.
    -- guard:pass_on_writes
    v_may_lock boolean := not p_passed_on;
    -- Another transaction has just notified, or is about to.
    v_other boolean := not p_passed_on and v_bound and v_recent;
    v_now timestamptz;
    v_sessions bigint[];
begin
    -- The worker that was notified within 2 ms looks again. A clock that is more than a second ahead was set back.
    -- guard:ring_recent
    if not p_passed_on and v_recent and v_same then
        return false;
    end if;
    -- Before the search for sessions, which costs ten times as much: with many producers most calls end here. If it finds no session, the row
    -- stays locked in vain until the caller commits. The worker that was notified within 50 ms looks again for longer than that.
    if v_may_lock and not v_other and not v_hangs then
        perform from pawl_data.bell b for update skip locked;
        -- guard:ring_one
        v_other := not found;
    end if;
    -- guard:ring_tenant
    if v_other and (not v_bound or v_same) then
        return false;
    end if;
    if not pawl._may_notify() then
        return false;
    end if;
    v_now := pawl.now();
    -- 1. A worker is killed; its session is marked until its lease ends. 2. Each trigger notifies it and no other. So if the first one
    -- has been listening for three seconds, a second one is notified, too.
    -- guard:ring_second
    v_sessions := array(
        select l.session_id
        from (
            select l.session_id, l.no, lag(l.since) over (order by l.no) as since
            from pawl._listeners(p_queue, p_tenant, p_but, 2, v_now) with ordinality l (session_id, since, no)
        ) l
        where l.no = 1 or l.since <= v_now - interval '3 s');
    if v_sessions = '{}' then
        return false;
    end if;
    if v_other then
        if not pawl._take_tenant_bell(v_us, p_tenant) then
            return false;
        end if;
        perform pawl._hint(s, '') from unnest(v_sessions) s;
        return true;
    end if;
    if v_may_lock and v_hangs then
        perform from pawl_data.bell b for update skip locked;
    end if;
    -- With tenants, only one that has the row, or has waited for it in vain, says whose it is.
    -- guard:pass_on_clock
    if not (v_bound and p_passed_on) then
        perform setval('pawl_data.bell_clock', (v_us << 12) | case when v_bound then pawl._bell_mark(v_us, p_tenant) else p_queue & 4095 end);
    end if;
    perform pawl._hint(s, '') from unnest(v_sessions) s;
    return true;
end
$$;
comment on function pawl._ring(int, text, boolean, bigint) is 'notifies one worker of a queue, unless that has just been done';

create or replace function pawl._ring_at_commit()
returns trigger
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._ring(new.queue_id, new.tenant, false, 0);
    return null;
end
$$;
comment on function pawl._ring_at_commit() is 'notifies a worker when a transaction that made a task ready commits';

-- Made once: to make it again, an install would have to lock out all producers.
do $$
begin
    if not exists (select from pg_catalog.pg_trigger t where t.tgrelid = 'pawl_data.ring'::regclass and t.tgname = 'ring_at_commit') then
        create constraint trigger ring_at_commit after insert on pawl_data.ring deferrable initially deferred
            for each row execute function pawl._ring_at_commit();
    end if;
end
$$;

-- Whether the caller's statement is a transaction by itself, has just begun, and calls pawl directly: then its commit follows at once. In the
-- extended protocol a transaction that begins with Bind has the time of its portal. Left are a statement that does something else after the
-- call, as "select pawl.trigger(...), pg_sleep(1)", and a pipeline of several statements without a sync between them.
create or replace function pawl._is_lone()
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_calls text;
begin
    if clock_timestamp() >= transaction_timestamp() + interval '50 ms'
       or statement_timestamp() <> transaction_timestamp()
          and not exists (select from pg_cursor() c where c.name = '' and c.creation_time = transaction_timestamp()) then
        return false;
    end if;
    -- Statements that are sent as one text have the time of their transaction, too: "begin; select pawl.trigger(...); ...; commit".
    -- guard:ring_text
    if strpos(rtrim(current_query(), E'; \n\r\t'), ';') > 0 then
        return false;
    end if;
    -- 1. A function of the caller triggers a run, and then computes for a second. 2. Another trigger has just notified a worker, so this one
    -- would not; the worker has looked for the last time when the function ends. The last line is the outermost call.
    get diagnostics v_calls = pg_context;
    -- guard:ring_direct
    return strpos(split_part(v_calls, E'\n', -1), 'pawl.') > 0;
end
$$;
comment on function pawl._is_lone() is 'whether the caller''s transaction is this one call';

-- A task of the queue has become ready: a worker is notified when the caller's transaction commits.
-- 1. A begins a transaction, triggers a run, and stays in it for a minute. 2. Other producers trigger runs of the queue. 3. A commits. If it
-- were decided at the statement, A's notification would come with the commit, when others have long been notified, or not at all, if a
-- worker was notified just then; and what A locked to be the only one would silence all others for that minute.
create or replace function pawl._ring_for(p_queue int, p_tenant text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_stamp text;
    v_rings text[];
begin
    -- guard:ring_lone
    if pawl._is_lone() then
        -- Without the call, because most calls come while all workers are busy, and these do not listen.
        if exists (select from pawl_data.worker w where w.listens and w.ended_at is null) then
            perform pawl._ring(p_queue, p_tenant, false, 0);
        end if;
        return;
    end if;
    v_stamp := date_part('epoch', transaction_timestamp())::text;
    -- Once for each queue and tenant. Who writes the setting by hand silences itself.
    v_rings := string_to_array(current_setting('pawl.rings', true), ' ');
    if v_rings[1] is distinct from v_stamp then
        v_rings := array[v_stamp];
    end if;
    -- guard:ring_once
    if p_queue || '/' || md5(coalesce(p_tenant, '')) = any (v_rings[2:])
       -- The workers that are notified of so many queues pass on the others.
       -- guard:ring_queues
       or cardinality(v_rings) > 32
       or not pawl._may_notify() then
        return;
    end if;
    perform set_config('pawl.rings', array_to_string(v_rings || (p_queue || '/' || md5(coalesce(p_tenant, ''))), ' '), true);
    insert into pawl_data.ring (queue_id, tenant) values (p_queue, p_tenant);
end
$$;
comment on function pawl._ring_for(int, text) is 'notifies a worker of a queue when the transaction commits';

-- Whether a live worker handles the queue for this tenant; if so, one is notified that a task is ready.
create or replace function pawl._wake_one(p_queue int, p_tenant text, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if not pawl._is_handled(p_queue, p_tenant, p_now) then
        return false;
    end if;
    perform pawl._ring_for(p_queue, p_tenant);
    return true;
end
$$;
comment on function pawl._wake_one(int, text, timestamptz) is 'notifies one idle worker of a queue that may take runs of the tenant, if there is one';
