-- SPDX-License-Identifier: Apache-2.0
-- Worker sessions: register, heartbeat, rest, pass_on, leave.

create or replace function pawl._queues_of(p_handles text[], p_runtimes text[])
returns int[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array(
        select q.queue_id
        from pawl_data.queue q
        join pawl_data.workflow w on w.workflow_id = q.workflow_id
        where (w.runtime is null or w.runtime = any (p_runtimes))
          -- Names are looked up in a hash table. Only patterns are compared with each queue.
          and (q.name in (select h from unnest(p_handles) h)
               or exists (
                   select from unnest(array(select left(h, -1) from unnest(p_handles) h where right(h, 1) = '*')) p
                   where starts_with(q.name, p)))
        order by q.queue_id);
end
$$;
comment on function pawl._queues_of(text[], text[]) is 'the queues that names and prefix patterns stand for';

create or replace function pawl.register(
    name text, handles text[], runtimes text[] default '{}', lease interval default '30 s', protocol int default 1,
    client text default '', version text default null)
returns table (session bigint, epoch int, heartbeat_every interval, queues int)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl._write_time();
    v_setting pawl_data.setting;
    v_bound text;
    v_queues int[];
begin
    perform pawl._only_read_committed('register');
    select s.* into v_setting from pawl_data.setting s where s.only_row;
    if protocol is null or protocol < v_setting.protocol_min or protocol > v_setting.protocol_max then
        -- guard:protocol
        perform pawl._raise('PW011', format('worker speaks protocol %s, this schema %s to %s', protocol,
            v_setting.protocol_min, v_setting.protocol_max), 'Upgrade the worker, or the schema with pawl migrate.');
    end if;
    if name is null or length(name) not between 1 and 200 then
        -- guard:worker_name
        perform pawl._raise('PW003', 'a worker needs a name of 1 to 200 characters');
    end if;
    if lease is null or lease < interval '500 ms' or lease > interval '1 day' then
        -- guard:lease_range
        perform pawl._raise('PW003', 'lease must be between 500 ms and 1 day');
    end if;
    if coalesce(cardinality(handles), 0) not between 1 and 1000
       or exists (select from unnest(handles) h where h is null or h !~ '^[a-z0-9_./-]*[*]?$' or h = '' or length(h) > 301) then
        -- guard:handles_max
        perform pawl._raise('PW003', 'handles must be 1 to 1000 names or prefix patterns like billing.*');
    end if;
    if cardinality(runtimes) > 100 or octet_length(array_to_string(runtimes, '')) > 10000 then
        -- guard:runtimes_max
        perform pawl._raise('PW003', 'runtimes must be at most 100, and have at most 10000 bytes in all');
    end if;
    if length(client) > 200 or length(version) > 100 then
        -- guard:client_max
        perform pawl._raise('PW003', 'client must have at most 200 characters, and version at most 100');
    end if;
    v_bound := pawl._bound_tenant('register');
    if v_bound is not null then
        perform pawl._limit_sessions(v_bound, v_setting.session_max, v_now);
    end if;
    v_queues := pawl._queues_of(handles, coalesce(runtimes, '{}'));
    session := (v_setting.epoch::bigint << 32) | nextval('pawl_data.session_no');
    insert into pawl_data.worker (session_id, name, lease, lease_until, protocol, handles, runtimes, queue_ids, queue_version,
                             client, version, tenant, registered_at)
    values (session, name, lease, pawl._shift(v_now, lease), protocol, handles, coalesce(runtimes, '{}'), v_queues, (select v.last_value from pawl_data.queue_version v),
            coalesce(client, ''), nullif(version, ''), v_bound, v_now);
    perform pawl._write_queues(session, '{}', v_queues);
    epoch := v_setting.epoch;
    heartbeat_every := lease / 3;
    queues := cardinality(v_queues);
    return next;
end
$$;
comment on function pawl.register(text, text[], text[], interval, int, text, text) is
'Registers a worker session: what it handles (names of workflows, or prefix patterns like billing.*), the runtimes it offers, and how long its lease lasts without a heartbeat. client says what the worker is, as libpawl/0.1.0, and version which version of the code it executes; list_workers() and doctor() show both. When code of another version executes a run again, history() shows it as version, with from and to. Returns the session number that every later call carries, the epoch, how often to send a heartbeat, and how many queues it handles now. Roles that are bound to one tenant may have as many sessions at a time as set_session_limit() says.
If repeated: registers another session.
Locks: none; for a role that is bound to a tenant, the row of the tenant, so that its registrations take turns.
Errors: PW003 bad argument, PW007 the tenant has as many sessions as it may, PW008 isolation level, PW010 another transaction of the tenant registers for more than two seconds, PW011 protocol not supported.
Limits: the cost is constant, and the number of queues.';

-- Returns the row of a session, or raises if the session may not act. A session whose lease has expired may act until a sweep has ended it.
create or replace function pawl._session(p_session bigint, p_verb text)
returns pawl_data.worker
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_worker pawl_data.worker;
    v_epoch int;
    v_is_bound boolean;
    v_bound text;
begin
    select s.epoch, s.tenants_bound into v_epoch, v_is_bound from pawl_data.setting s where s.only_row;
    if v_is_bound then
        -- First, so that a role that is refused does not learn which sessions exist.
        v_bound := pawl._bound_tenant(p_verb);
    end if;
    select w.* into v_worker from pawl_data.worker w where w.session_id = p_session and w.ended_at is null;
    if not found then
        -- guard:session_ended
        perform pawl._raise('PW005', format('session %s has ended', p_session), 'Register again.');
    end if;
    if v_worker.tenant is distinct from coalesce(v_bound, v_worker.tenant) then
        -- guard:session_tenant
        perform pawl._raise('PW005', format('session %s has ended', p_session), 'Register again.');
    end if;
    -- guard:session_epoch
    if p_session >> 32 <> v_epoch then
        perform pawl._raise('PW012', format('session %s belongs to an older epoch', p_session), 'Register again.');
    end if;
    return v_worker;
end
$$;
comment on function pawl._session(bigint, text) is 'the row of a session that may act';

-- Checks the report of a worker. Housekeeping of every session reads these reports, so a malformed one must not be stored.
create or replace function pawl._check_running(p_running json)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if octet_length(p_running::text) > 65536 then
        -- guard:running_max
        perform pawl._raise('PW009', 'running has more than 65536 bytes');
    end if;
    if json_typeof(p_running) = 'array' then
        -- guard:running_form
        if not exists (
            select from json_array_elements(p_running) r
            where json_typeof(r) <> 'object'
               or coalesce(r ->> 'run', '') !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
               or coalesce(r ->> 'task', '0') !~ '^([0-9]{1,9}|1[0-9]{9}|20[0-9]{8})$'
               or coalesce(r ->> 'attempt', '1') !~ '^[0-9]{1,9}$'
               or coalesce(r ->> 'started_ms', '0') !~ '^[0-9]{1,12}([.][0-9]{1,9})?$'
               or coalesce(r ->> 'timeout_ms', '0') !~ '^[0-9]{1,12}([.][0-9]{1,9})?$'
               or length(r ->> 'step') > 240
               -- 1. A bound worker reports a step whose name is nested as deep as this call can just read. 2. Housekeeping, which is some
               -- calls deeper, reads it and fails, and with it the time limits of all tenants. So each value is flat.
               or exists (select from json_each(case when json_typeof(r) = 'object' then r else '{}' end) e
                          where json_typeof(e.value) in ('object', 'array'))) then
            return;
        end if;
    elsif json_typeof(p_running) = 'null' then
        return;
    end if;
    perform pawl._raise('PW003', 'running must be a list of objects with run, task, step, attempt, started_ms and timeout_ms');
end
$$;
comment on function pawl._check_running(json) is 'refuses a malformed list of running steps';

-- With each renewal of the lease the list of queues is computed again. 1. A creates a workflow and stays in its transaction. 2. B, a claim
-- of this session, sees the new queue_version and computes the list without the queue of A. 3. A commits. Without this the session would not
-- claim from that queue until the next one appears. It is written only if it has changed: with thousands of queues it is long. The caller
-- has locked the session's row.
create or replace function pawl._renew_queues(p_worker pawl_data.worker)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_version bigint := (select v.last_value from pawl_data.queue_version v);
    v_queues int[] := pawl._queues_of(p_worker.handles, p_worker.runtimes);
begin
    if v_queues <> p_worker.queue_ids or v_version <> p_worker.queue_version then
        perform pawl._write_queues(p_worker.session_id, p_worker.queue_ids, v_queues);
        update pawl_data.worker w
        set queue_ids = v_queues, queue_version = v_version
        where w.session_id = p_worker.session_id;
    end if;
end
$$;
comment on function pawl._renew_queues(pawl_data.worker) is 'computes the list of queues of a session again';

create or replace function pawl.heartbeat(session bigint, running json default null, starved boolean default null)
returns table (epoch int, lease_until timestamptz, run_id uuid, task int, notice text, tick_due boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_worker pawl_data.worker;
    v_bound text := pawl._bound_tenant('heartbeat');
    v_found boolean := false;
begin
    perform pawl._only_read_committed('heartbeat');
    if running is not null then
        perform pawl._check_running(running);
    end if;
    -- guard:heartbeat_session
    update pawl_data.worker w
    set lease_until = pawl._shift(v_now, w.lease), running = heartbeat.running, reported_at = v_now,
        starved_since = case when starved then coalesce(w.starved_since, v_now) when starved is null then w.starved_since end,
        next_limit_at = case when heartbeat.running is null then 'infinity' else pawl._same_limit(w.next_limit_at, pawl._next_limit(w.session_id, heartbeat.running, v_now)) end
    where w.session_id = session and w.ended_at is null and session >> 32 = (select s.epoch from pawl_data.setting s where s.only_row)
      and (v_bound is null or w.tenant = v_bound)
    returning w.* into v_worker;
    if not found then
        perform pawl._session(session, null);
        perform pawl._raise('PW005', format('session %s has ended', session), 'Register again.');
    end if;
    perform pawl._renew_queues(v_worker);
    tick_due := pawl._tick_due(v_now, v_worker.tenant is null);
    epoch := (session >> 32)::int;
    lease_until := v_worker.lease_until;
    for run_id, task, notice in
        select t.run_id, t.task_no, case when t.ending is not null and not t.rolling_back or z.ending is not null
                                         then 'cancelled' else 'paused' end
        from pawl_data.task t
        -- A task that was being committed when its flow failed is not marked itself.
        left join pawl_data.task z on t.task_no > 0 and z.run_id = t.run_id and z.task_no = 0 and z.ending is not null
        where t.session_id = session and t.place = 'h'
          and (t.ending is not null and not t.rolling_back or t.paused is not null or z.ending is not null)
        -- Cancelled tasks first: a worker must release them, but it may keep paused ones. Without the order 1,000 paused tasks could hide a
        -- cancelled one.
        -- guard:told_first
        order by 3
        limit 1000
    loop
        v_found := true;
        return next;
    end loop;
    if v_worker.draining then
        run_id := null;
        task := null;
        notice := 'drain';
        v_found := true;
        return next;
    end if;
    if not v_found then
        return next;
    end if;
end
$$;
comment on function pawl.heartbeat(bigint, json, boolean) is
'Keeps the lease of a session, however many tasks it holds. running lists the steps that last, as [{"run", "task", "step", "attempt", "started_ms", "timeout_ms"}], so that others can see them. starved reports that the worker''s program takes no runs, so that the worker claims none; null leaves that as it was. The answer has one row for each held task with a notice (cancelled, paused), one with notice drain if the worker should stop, or one row without a notice. In each row, tick_due reports whether housekeeping is due, so that the worker calls tick(). If no caller has called it for two seconds, a session that is not bound to a tenant does a little of it here.
If repeated: renews the lease again.
Locks: the row of the session, and up to 50 rows of late housekeeping, skipping locked ones.
Errors: PW003 running is malformed, PW005 the session has ended, PW008 isolation level, PW009 running is over 64 kB, PW012 it belongs to an older epoch.
Limits: 1,000 rows.';

-- Whether few enough sessions listen that this one should, too. Four that handle all that it handles are enough: another would be notified
-- of nothing that these are not. And however many queues there are, PostgreSQL wakes every backend that listens, whatever it listens to.
-- A session that listens counts those before it, so that of many that began at the same moment only a few are left at their next call.
create or replace function pawl._should_listen(p_worker pawl_data.worker, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_sessions bigint[] := array(
        select w.session_id
        from pawl_data.worker w
        where w.listens and w.ended_at is null and w.lease_until - p_now > w.lease / 2
          and case when p_worker.listens then w.session_id < p_worker.session_id else w.session_id <> p_worker.session_id end);
begin
    -- guard:listeners_max
    if cardinality(v_sessions) >= pawl._listeners_max() then
        return false;
    end if;
    -- 1. A, a worker role that is bound to one tenant, registers many sessions that each handle something else. 2. All of them rest. Without
    -- this no worker of another tenant could listen.
    -- guard:listen_share
    if p_worker.tenant is not null and 16 <= (
        select count(*) from pawl_data.worker w where w.session_id = any (v_sessions) and w.tenant = p_worker.tenant) then
        return false;
    end if;
    return 4 > (
        select count(*)
        from (
            select
            from pawl_data.worker w
            where w.session_id = any (v_sessions)
              -- guard:listen_tenant
              and (w.tenant is null or w.tenant = p_worker.tenant)
              -- guard:listen_covers
              and (w.queue_ids = p_worker.queue_ids
                   or cardinality(w.queue_ids) > cardinality(p_worker.queue_ids) and not exists (
                       select from unnest(p_worker.queue_ids) q (queue_id)
                       where not exists (
                           select from pawl_data.worker_queue h where h.queue_id = q.queue_id and h.session_id = w.session_id offset 0)))
            limit 4) w);
end
$$;
comment on function pawl._should_listen(pawl_data.worker, timestamptz) is 'whether a session that rests should listen for notifications';

-- Whether a session would find something if it claimed now, as far as can be told without locks: what another transaction has just taken
-- counts, too.
create or replace function pawl._has_ready(p_worker pawl_data.worker)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_queues int[] := p_worker.queue_ids;
begin
    -- A claim computes its list of queues again, and knows which are paused. A suspect is for a worker that holds nothing.
    if p_worker.queue_version <> (select v.last_value from pawl_data.queue_version v)
       or exists (select from pawl_data.task t where t.place = 's') then
        return true;
    end if;
    if pg_relation_size('pawl_data.pause') > 0 then
        v_queues := array(select q from unnest(v_queues) q where q <> all ((select pawl._paused_queues())::int[]) order by q);
    end if;
    -- 1. A limit holds a run back. 2. The last run of its key ends, and no worker is notified. The task is not at place r, so that without this
    -- test no worker would claim it until the next notification.
    -- guard:ready_in_lane
    if pg_relation_size('pawl_data.lane_queue') > 0
       and pawl._any_open(pawl._laned(v_queues), p_worker.tenant) then
        return true;
    end if;
    -- If there are at most four queues, this returns all.
    v_queues := pawl._ready_queues(v_queues, 4, p_worker.tenant);
    if p_worker.tenant <> '' then
        return exists (
            select from unnest(v_queues) q (queue_id)
            where exists (
                select from pawl_data.task t
                where t.tenant = p_worker.tenant and t.tenant <> '' and t.place::text = 'r' and t.queue_id = q.queue_id offset 0));
    end if;
    return exists (
        select from unnest(v_queues) q (queue_id)
        where exists (select from pawl_data.task t where t.place = 'r' and t.queue_id = q.queue_id offset 0));
end
$$;
comment on function pawl._has_ready(pawl_data.worker) is 'whether a claim of a session may find something';

create or replace function pawl.rest(session bigint, renew boolean default false, may_listen boolean default true)
returns table (listen boolean, ready boolean, tick_due boolean, draining boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_worker pawl_data.worker;
    v_none boolean;
begin
    perform pawl._only_read_committed('rest');
    v_worker := pawl._session(session, 'rest');
    listen := rest.may_listen is not false and pawl._should_listen(v_worker, v_now);
    if rest.renew or not v_worker.idle or v_worker.listens <> listen then
        -- A heartbeat reports that no step lasts in the same way. A session that holds something sends heartbeats for that.
        v_none := rest.renew and not exists (select from pawl_data.task t where t.place = 'h' and t.session_id = session);
        update pawl_data.worker w
        set idle = not w.draining,
            -- A draining worker claims nothing, so other workers must be notified instead.
            -- guard:idle_drains
            listens = rest.listen and not w.draining,
            listens_since = case when w.listens then w.listens_since else v_now end,
            lease_until = case when rest.renew then pawl._shift(v_now, w.lease) else w.lease_until end,
            running = case when v_none then null else w.running end,
            reported_at = case when v_none then v_now else w.reported_at end,
            next_limit_at = case when v_none then 'infinity' else w.next_limit_at end
        -- guard:rest_session
        where w.session_id = session and w.ended_at is null
        returning w.* into v_worker;
        if not found then
            perform pawl._raise('PW005', format('session %s has ended', session), 'Register again.');
        end if;
        listen := v_worker.listens;
        if rest.renew then
            perform pawl._renew_queues(v_worker);
        end if;
    end if;
    ready := not v_worker.draining and pawl._has_ready(v_worker);
    tick_due := pawl._tick_needed(v_now, v_worker.tenant is null);
    draining := v_worker.draining;
    return next;
end
$$;
comment on function pawl.rest(bigint, boolean, boolean) is
'Tells that a session has found nothing to do and sleeps, and tells it whether to listen for notifications, on the channel pawl_ followed by the session number. The worker listens or stops to listen, claims again, and sleeps until it is notified or its poll interval is over; then it calls rest again instead of a claim, and claims if ready says that there may be something. A trigger, emit or signal notifies one of the sessions that listen; few of them do, whatever the number of workers. With renew, the call renews the lease, too, as a heartbeat does, for a session that holds nothing. With may_listen false the session never listens, as behind a pooler. tick_due means that housekeeping has something to do: call tick() then. draining means that the worker should leave. The next claim that returns a task ends the rest.
If repeated: answers what is so then.
Locks: the row of the session, if something about it changes.
Errors: PW005 the session has ended, PW008 isolation level, PW012 older epoch.
Limits: 64 sessions of a database listen, of roles bound to one tenant 16, and of those that handle all that another handles four; the cost is constant, and the number of queues.';

create or replace function pawl.pass_on(session bigint)
returns int
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_worker pawl_data.worker;
    v_paused int[] := array[]::int[];
    v_start int;
    v_queue int;
    v_from int;
    v_tenant text;
    v_looked int := 0;
    v_rung int := 0;
begin
    perform pawl._only_read_committed('pass_on');
    v_worker := pawl._session(session, 'pass_on');
    if not exists (
        select from pawl_data.worker w
        where w.listens and w.ended_at is null and w.session_id <> session and w.lease_until - v_now > w.lease / 2) then
        return 0;
    end if;
    if pg_relation_size('pawl_data.pause') > 0 then
        v_paused := pawl._paused_queues();
    end if;
    -- Not always the same queues first.
    v_start := 1 + floor(random() * coalesce((select max(q.queue_id) from pawl_data.queue q), 0))::int;
    for v_turn in 1..2 loop
        v_from := case when v_turn = 1 then v_start - 1 else 0 end;
        loop
            -- A session that is bound passes on tasks of its tenant only: it learns nothing of others, and wakes none of them.
            select t.queue_id into v_queue
            from pawl_data.task t
            where t.place = 'r' and t.queue_id > v_from
              -- guard:pass_on_tenant
              and (v_worker.tenant is null or t.tenant = v_worker.tenant)
            order by t.queue_id
            limit 1;
            -- guard:pass_on_lane
            v_queue := least(v_queue, pawl._next_open(v_from, v_worker.tenant));
            v_from := v_queue;
            exit when v_queue is null or v_looked >= 32 or v_turn = 2 and v_queue >= v_start;
            v_looked := v_looked + 1;
            -- guard:pass_on_paused
            continue when v_queue = any (v_paused);
            v_tenant := v_worker.tenant;
            if v_tenant is null then
                -- One that may take what is ready there: a session may be bound to a tenant, too.
                select coalesce(w.tenant, '') into v_tenant
                from pawl_data.worker w
                where w.listens and w.ended_at is null and w.session_id <> session
                  and exists (select from pawl_data.worker_queue h where h.queue_id = v_queue and h.session_id = w.session_id offset 0)
                  -- guard:pass_on_bound
                  and (w.tenant is null or exists (
                      select from pawl_data.task t
                      where t.tenant = w.tenant and t.tenant <> '' and t.place::text = 'r' and t.queue_id = v_queue offset 0)
                       or pg_relation_size('pawl_data.lane_queue') > 0 and pawl._lanes_open(v_queue, w.tenant))
                order by random()
                limit 1;
                continue when not found;
            end if;
            v_rung := v_rung + pawl._ring(v_queue, v_tenant, true, session)::int;
        end loop;
    end loop;
    return v_rung;
end
$$;
comment on function pawl.pass_on(bigint) is
'Notifies other workers that listen of tasks that are ready, for at most 32 queues: a call for a worker whose claim returned something after it was notified, because producers notify one worker at a time. Returns how many queues it has notified a worker of. It writes nothing, so that it holds up no commit: send it alone.
If repeated: notifies again.
Locks: none that another call waits for.
Errors: PW005 the session has ended, PW008 isolation level, PW012 older epoch.
Limits: 32 queues.';

create or replace function pawl.leave(session bigint)
returns int
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl._write_time();
    v_given int;
    v_queues int[];
begin
    perform pawl._only_read_committed('leave');
    -- 1. A leaves, and its session is checked. 2. B raises the epoch; A waits for the table of tasks. 3. B commits, and A continues: it
    -- would release tasks for a session of an older epoch. So A has its lock first, and B waits for A or A for B.
    -- guard:leave_epoch
    lock table pawl_data.task in row exclusive mode;
    perform pawl._session(session, 'leave');
    v_given := pawl._release_held(session, v_now, 10000, false, false);
    update pawl_data.worker w
    set ended_at = v_now, ended_why = 'left', idle = false, listens = false
    where w.session_id = session and w.ended_at is null
      and not exists (select from pawl_data.task t where t.session_id = session and t.place = 'h')
    returning w.queue_ids into v_queues;
    -- guard:leave_queues
    perform pawl._write_queues(session, v_queues, '{}');
    return v_given;
end
$$;
comment on function pawl.leave(bigint) is
'Ends a session cleanly: the tasks that it still holds are released and count neither as an attempt nor as a crash. Returns how many tasks were released. If another transaction holds one of them, the session stays and the call can be repeated.
If repeated: raises PW005, the session has ended.
Locks: its tasks, skipping locked ones; waits for a raise_epoch() in progress.
Errors: PW005 the session has ended, PW008 isolation level, PW010 another transaction is making a partition that it needs: send it again, PW012 older epoch.
Limits: 10,000 tasks.';

-- Refuses a new session of a role that is bound to p_tenant if the tenant has p_max sessions.
create or replace function pawl._limit_sessions(p_tenant text, p_max int, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Real time, not pawl.now(): a test clock may stand still.
    v_until timestamptz := clock_timestamp() + interval '2 s';
begin
    loop
        -- 1. A registers the last session that the limit allows; its transaction stays open. 2. B, of the same tenant, registers and does
        -- not see A's session. Without the lock a hundred connections could have a hundred times the limit.
        -- guard:sessions_lock
        perform from pawl_data.bound_tenant b where b.tenant = p_tenant for update skip locked;
        exit when found;
        if clock_timestamp() >= v_until then
            perform pawl._raise('PW010', format('another transaction is registering a session of tenant "%s"', p_tenant), 'Retry the call.');
        end if;
        perform pg_sleep(0.01);
    end loop;
    if pawl._has_sessions(p_tenant, p_max) then
        -- 1. All workers of the tenant, as many as the limit allows, die. 2. One is started again. Expired sessions count until they are
        -- swept, and no other worker may be alive to do that. Without this no worker of the tenant could ever register again.
        -- guard:sessions_sweep
        perform pawl._do_piece('sessions', p_now, 500, p_tenant);
        if pawl._has_sessions(p_tenant, p_max) then
            -- guard:sessions_max
            perform pawl._raise('PW007', format('tenant "%s" has reached its limit of %s sessions', p_tenant, p_max),
                'Stop workers of the tenant, or raise the limit with pawl.set_session_limit().');
        end if;
    end if;
end
$$;
comment on function pawl._limit_sessions(text, int, timestamptz) is 'refuses a session over the limit of its tenant';

create or replace function pawl._has_sessions(p_tenant text, p_count int)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select count(*) = p_count
        from (select from pawl_data.worker w where w.ended_at is null and w.tenant = p_tenant limit p_count) w);
end
$$;
comment on function pawl._has_sessions(text, int) is 'whether a tenant has at least so many sessions that have not ended';
