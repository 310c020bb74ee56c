-- SPDX-License-Identifier: Apache-2.0
-- Which tasks a claim takes: queues with ready tasks, then the first tasks of each.

-- Returns the parts of a queue that a claim scans, the last of them first. Without a valid mark that is one segment of all priorities. With
-- marks there is one segment for each marked priority and one for each gap between them. p_snapshot says which transactions have ended.
create or replace function pawl._segments(p_queue int, p_now timestamptz, p_snapshot pg_snapshot)
returns table (priority_from int, priority_to int, due_from timestamptz, walked_at timestamptz)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_mark record;
    v_above int := 32768;
begin
    -- The highest priority number first, because an index that is scanned backward has the newest mark of each first.
    loop
        select m.priority, m.due_from, m.walked_at,
               (select x from unnest(m.open_xids) x where pg_visible_in_snapshot(x, p_snapshot) order by x limit 1) as ended
        into v_mark
        from pawl_data.queue_mark m
        where m.queue_id = p_queue and m.priority < v_above
          -- A mark is valid for two seconds after the last scan from the beginning of the queue (walked_at), however often it was moved since.
          -- Then a claim finds tasks with an earlier due time: those that a worker has released, and those that another claim had locked when
          -- the mark was left, if that claim was rolled back.
          -- guard:mark_expires
          and m.marked_at <= p_now and m.walked_at > p_now - interval '2 s'
          and m.marked_at > p_now - interval '2 s'
        order by m.priority desc, m.marked_at desc
        limit 1;
        exit when not found;
        if v_mark.priority < v_above - 1 then
            return query select v_mark.priority + 1, v_above - 1, '-infinity'::timestamptz, p_now;
        end if;
        -- 1. A triggers a run and stays in its transaction. 2. Claims leave marks later than the task of A. They name A. 3. A commits. This
        -- claim scans from the last mark that is older than A, and finds the task. Without this it would not for two seconds. There may be
        -- no such mark: then it scans from the beginning.
        -- guard:mark_open_xids
        if v_mark.ended is not null then
            -- guard:mark_before_ended
            v_mark.due_from := least(v_mark.due_from, coalesce((
                select m.marked_at
                from pawl_data.queue_mark m
                where m.queue_id = p_queue and m.priority = v_mark.priority and m.marked_at <= p_now and m.xid < v_mark.ended
                order by m.marked_at desc
                limit 1), '-infinity'));
        end if;
        return query select v_mark.priority::int, v_mark.priority::int, v_mark.due_from,
            case when v_mark.due_from = '-infinity' then p_now else v_mark.walked_at end;
        v_above := v_mark.priority;
    end loop;
    if v_above > 0 then
        return query select 0, v_above - 1, '-infinity'::timestamptz, p_now;
    end if;
end
$$;
comment on function pawl._segments(int, timestamptz, pg_snapshot) is 'parts of a ready queue, the last one first';

-- Leaves a mark after a scan that began with p_snapshot, and found no task of the queue and priority that is due before p_first. A mark must
-- not pass uncommitted tasks. A transaction that makes a task ready gets its id before it reads the clock (_write_time). So take the last mark M
-- before this one, left by a transaction that got its id after it had read the clock:
-- 1. A transaction with a higher id than that of M makes tasks that are due at M or later: the new mark stays at M.
-- 2. A transaction with a lower id that is in progress may have made tasks that are due before M: the new mark names it. After it has
-- ended, a claim scans from the last mark before it, for the reason of 1, and leaves a mark that does not name it.
-- 3. Other transactions with lower ids have ended, so that the scan saw their tasks.
-- The first mark passes no task, and is only there to be M. Under load M is a few milliseconds old, so that claims start close to now.
-- p_first_id: the caller's transaction had no id when it read the clock.
create or replace function pawl._mark(
    p_queue int, p_priority int, p_now timestamptz, p_walked_at timestamptz, p_first timestamptz, p_snapshot pg_snapshot, p_first_id boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_priority int := p_priority;
    v_last record;
begin
    if v_priority is null then
        select w.priority into v_priority
        from pawl_data.queue q
        join pawl_data.workflow w on w.workflow_id = q.workflow_id
        where q.queue_id = p_queue;
    end if;
    select m.marked_at, m.xid into v_last
    from pawl_data.queue_mark m
    where m.queue_id = p_queue and m.priority = v_priority and m.marked_at <= p_now
      -- A snapshot lists transactions in progress only up to the last one that has ended: M must be one of these.
      and m.xid < pg_snapshot_xmax(p_snapshot)
    order by m.marked_at desc
    limit 1;
    insert into pawl_data.queue_mark (queue_id, priority, marked_at, walked_at, due_from, xid, open_xids)
    values (p_queue, v_priority, p_now, p_walked_at,
            -- guard:mark_stays_at_last
            least(coalesce(p_first, p_now), coalesce(v_last.marked_at, '-infinity')),
            -- guard:mark_first_id
            case when p_first_id then pg_current_xact_id() end,
            array(select x from pg_snapshot_xip(p_snapshot) x where x < v_last.xid))
    on conflict on constraint queue_mark_pkey do nothing;
end
$$;
comment on function pawl._mark(int, int, timestamptz, timestamptz, timestamptz, pg_snapshot, boolean) is 'leaves a mark for the next claim of a queue';

-- Locks up to p_max ready tasks of one queue and returns their row addresses. If the scan passed many dead row versions, which a held
-- snapshot keeps, it leaves a mark. The next claim starts after them.
create or replace function pawl._pick(p_queue int, p_max int, p_tenant text, p_now timestamptz, p_first_id boolean)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_picked tid[] := array[]::tid[];
    v_more tid[];
    v_segment record;
    v_first timestamptz;
    v_priority int;
    v_walked bigint := pg_stat_get_xact_tuples_returned('pawl_data.task_ready_idx'::regclass);
    v_walked_at timestamptz := p_now;
    v_started timestamptz := clock_timestamp();
    v_snapshot pg_snapshot;
begin
    -- 1. A claims tasks and commits. 2. B, a claim with an older snapshot, locks the same rows for a moment. (A row lock follows the newest
    -- version before the condition is tested again.) 3. The worker of A commits items in that moment, and they are answered busy. So claims
    -- of more than 10 tasks of one queue take turns. A claim waits for a few milliseconds at most, whatever the grain of the timer is, even
    -- if another transaction stays open.
    if p_max > 10 then
        for v_try in 1..8 loop
            exit when pg_try_advisory_xact_lock(1886287724, p_queue) or clock_timestamp() > v_started + interval '4 ms';
            perform pg_sleep(0.0005);
        end loop;
    end if;
    -- Before the scan: a transaction that ends during the scan is in progress here, so that the mark names it.
    v_snapshot := pg_current_snapshot();
    for v_segment in select s.* from pawl._segments(p_queue, p_now, v_snapshot) s order by s.priority_from loop
        if p_tenant <> '' then
            -- By task_tenant_idx: 1. Tenant A has a million ready tasks in this queue. 2. B, a worker that is bound to another tenant,
            -- claims. By the index of all tenants B would walk over the tasks of A at every claim, and learn how many they are.
            -- guard:claim_by_tenant
            select array_agg(s.ctid) into v_more
            from (
                select t.ctid
                from pawl_data.task t
                where t.tenant = p_tenant and t.tenant <> '' and t.place::text = 'r' and t.queue_id = p_queue
                  and t.priority between v_segment.priority_from and v_segment.priority_to
                  and t.due_at >= v_segment.due_from
                order by t.priority, t.due_at
                limit p_max - cardinality(v_picked)
                for update skip locked
            ) s;
        else
            select array_agg(s.ctid), min(s.due_at), min(s.priority)::int into v_more, v_first, v_priority
            from (
                select t.ctid, t.due_at, t.priority
                from pawl_data.task t
                where t.place = 'r' and t.queue_id = p_queue
                  and t.priority between v_segment.priority_from and v_segment.priority_to
                  and t.due_at >= v_segment.due_from
                  and (p_tenant is null or t.tenant = p_tenant)
                order by t.priority, t.due_at
                limit p_max - cardinality(v_picked)
                -- guard:claim_skip_locked
                for update skip locked
            ) s;
        end if;
        v_picked := v_picked || coalesce(v_more, '{}');
        v_walked_at := least(v_walked_at, v_segment.walked_at);
        exit when cardinality(v_picked) >= p_max;
    end loop;
    v_walked := pg_stat_get_xact_tuples_returned('pawl_data.task_ready_idx'::regclass) - v_walked;
    -- 1. A leaves a mark and stays in its transaction. 2. B leaves a mark with the same key. Without the lock the insert of B would wait
    -- for A, and a claim must not wait. So one transaction at a time marks a queue.
    if v_walked > 32 + 3 * (p_max + cardinality(v_picked)) and p_tenant is null
       -- guard:mark_waits_for_nobody
       and pg_try_advisory_xact_lock(1886287725, p_queue) then
        perform pawl._mark(p_queue, v_priority, p_now, v_walked_at, v_first, v_snapshot, p_first_id);
    end if;
    return v_picked;
end
$$;
comment on function pawl._pick(int, int, text, timestamptz, boolean) is 'locks ready tasks of one queue and returns their row addresses';

-- Returns queues of the session that have ready tasks, at most p_max of them, from a random one on, so that queues take turns. A session
-- with up to four queues gets all of them. One index probe skips all empty queues. If the session does not handle the queue that it finds,
-- the scan continues at the session's next queue. p_queues is sorted.
create or replace function pawl._ready_queues(p_queues int[], p_max int, p_tenant text)
returns int[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_count int := cardinality(p_queues);
    v_start int := 1 + floor(random() * v_count)::int;
    v_ready int[] := array[]::int[];
    v_queue int;
    v_from int;
    v_n int;
begin
    if v_count <= 4 then
        return p_queues[v_start:] || p_queues[:v_start - 1];
    end if;
    for v_turn in 1..2 loop
        v_from := case when v_turn = 1 then p_queues[v_start] else p_queues[1] end;
        loop
            if p_tenant <> '' then
                -- 1. Tenant A has ready tasks in a thousand queues. B, a worker of all these queues that is bound to another tenant, has
                -- one task in one queue. 2. B claims, and scans only a bounded number of ready queues. Without the tenant B would scan
                -- queues of A, and find its task only by luck.
                -- guard:ready_by_tenant
                select t.queue_id into v_queue
                from pawl_data.task t
                where t.tenant = p_tenant and t.tenant <> '' and t.place::text = 'r' and t.queue_id >= v_from
                order by t.queue_id
                limit 1;
            else
                select t.queue_id into v_queue
                from pawl_data.task t
                where t.place = 'r' and t.queue_id >= v_from
                order by t.queue_id
                limit 1;
            end if;
            exit when not found or (v_turn = 2 and v_queue >= p_queues[v_start]) or cardinality(v_ready) >= p_max;
            -- How many queues of the session have a number up to this one.
            v_n := width_bucket(v_queue, p_queues);
            if p_queues[v_n] = v_queue then
                v_ready := v_ready || v_queue;
                v_from := v_queue + 1;
            else
                v_from := p_queues[v_n + 1];
                exit when v_from is null;
            end if;
        end loop;
    end loop;
    return v_ready;
end
$$;
comment on function pawl._ready_queues(int[], int, text) is 'which of a session''s queues have ready tasks, of its tenant if it is bound, in turns';

create or replace function pawl._paused_queues()
returns int[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array(
        -- guard:paused_queues_all
        select q.queue_id from pawl_data.queue q where exists (select from pawl_data.pause p where p.subject = 'all')
        union
        select q.queue_id
        from pawl_data.pause p
        join pawl_data.queue q on p.subject = 'queue' and q.name = p.name
        union
        select q.queue_id
        from pawl_data.pause p
        join pawl_data.workflow w on p.subject = 'workflow' and w.name = p.name
        join pawl_data.queue q on q.workflow_id = w.workflow_id);
end
$$;
comment on function pawl._paused_queues() is 'queues from which nothing is claimed now';

-- Returns the session that claims, with its queues except paused ones. Computes the list of queues again if queues have appeared, and
-- renews a lease that has expired but was not swept. The idle mark stays: a worker sets it and then claims again. So a run that was
-- triggered in between is either found by that claim or notified.
create or replace function pawl._claimer(p_session bigint, p_now timestamptz)
returns pawl_data.worker
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_worker pawl_data.worker := pawl._session(p_session, 'claim');
    v_version bigint := (select v.last_value from pawl_data.queue_version v);
    v_old int[];
begin
    if v_worker.queue_version <> v_version or v_worker.lease_until < p_now then
        v_worker.queue_ids := pawl._queues_of(v_worker.handles, v_worker.runtimes);
        -- 1. A, a sweep or a heartbeat, holds the row of this session. 2. B, this claim, wants to change the row. Without the skip B would
        -- wait for A, and a claim never waits for a lock. So B continues without the change.
        -- guard:claimer_skip_locked
        select w.queue_ids into v_old
        from pawl_data.worker w where w.session_id = p_session and w.ended_at is null for update skip locked;
        if found then
            if v_old <> v_worker.queue_ids then
                perform pawl._write_queues(p_session, v_old, v_worker.queue_ids);
            end if;
            update pawl_data.worker w
            set queue_ids = v_worker.queue_ids, queue_version = v_version,
                lease_until = greatest(w.lease_until, pawl._shift(p_now, w.lease))
            where w.session_id = p_session;
        elsif not exists (select from pawl_data.worker w where w.session_id = p_session and w.ended_at is null) then
            perform pawl._raise('PW005', format('session %s has ended', p_session), 'Register again.');
        elsif v_worker.lease_until < p_now then
            -- The transaction that holds the row may be a sweep that ends this session. Claim nothing until it has committed.
            v_worker.queue_ids := '{}';
        end if;
    end if;
    -- Ask for the size of the table first, because that keeps no lock: a claim must stay within sixteen relations.
    if pg_relation_size('pawl_data.pause') > 0 then
        if exists (select from pawl_data.pause p where p.subject = 'all') then
            v_worker.queue_ids := '{}';
        elsif exists (select from pawl_data.pause) then
            v_worker.queue_ids := array(
                select q from unnest(v_worker.queue_ids) q where q <> all ((select pawl._paused_queues())::int[]) order by q);
        end if;
    end if;
    return v_worker;
end
$$;
comment on function pawl._claimer(bigint, timestamptz) is 'the session that claims, with the queues it handles that are not paused';

-- Locks one suspect task, for a worker with nothing else in flight.
create or replace function pawl._pick_suspect(p_queues int[], p_tenant text)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_tenant <> '' then
        -- For the reason that _pick() gives.
        -- guard:suspect_by_tenant
        return array(
            select s.ctid
            from unnest(p_queues) q (queue_id)
            cross join lateral (
                select t.ctid
                from pawl_data.task t
                where t.tenant = p_tenant and t.tenant <> '' and t.place::text = 's' and t.queue_id = q.queue_id
                order by t.priority, t.due_at
                limit 1
                for update skip locked
            ) s
            limit 1);
    end if;
    return array(
        select s.ctid
        from unnest(p_queues) q (queue_id)
        cross join lateral (
            select t.ctid
            from pawl_data.task t
            where t.place = 's' and t.queue_id = q.queue_id and (p_tenant is null or t.tenant = p_tenant)
            order by t.priority, t.due_at
            limit 1
            for update skip locked
        ) s
        limit 1);
end
$$;
comment on function pawl._pick_suspect(int[], text) is 'locks one suspect task and returns its row address';

-- The same for all queues of a session, of which some may have lanes.
create or replace function pawl._pick_any_suspect(p_queues int[], p_tenant text, p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_laned int[] := pawl._laned(p_queues);
    v_picked tid[];
begin
    if cardinality(v_laned) = 0 then
        return pawl._pick_suspect(p_queues, p_tenant);
    end if;
    -- guard:suspect_by_lane
    v_picked := pawl._pick_suspect(array(select q from unnest(p_queues) q where q <> all (v_laned)), p_tenant);
    return case when cardinality(v_picked) > 0 then v_picked else pawl._pick_lane_suspect(v_laned, p_tenant, p_now) end;
end
$$;
comment on function pawl._pick_any_suspect(int[], text, timestamptz) is 'locks one suspect task, of a lane only if it has room';

-- Picks up to p_max tasks for a session, and locks them. queues: the queues that it scanned.
create or replace function pawl._pick_tasks(
    p_worker pawl_data.worker, p_max int, p_now timestamptz, p_first_id boolean, out picked tid[], out queues int[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_left int := p_max;
    v_queue int;
    v_quota int;
    v_more int[] := array[]::int[];
    v_picked tid[];
    v_laned int[] := array[]::int[];
begin
    picked := array[]::tid[];
    queues := pawl._ready_queues(p_worker.queue_ids, v_left, p_worker.tenant);
    -- The test of _laned(), without the call.
    if pg_relation_size('pawl_data.lane_queue') > 0 then
        v_laned := pawl._laned(p_worker.queue_ids);
        if cardinality(v_laned) > 0 then
            queues := pawl._with_lanes(queues, v_laned, v_left);
        end if;
    end if;
    -- Two turns: in the first every queue gets its share; in the second queues with more ready tasks get the remainder.
    v_quota := (v_left + cardinality(queues)) / greatest(cardinality(queues), 1);
    foreach v_queue in array queues loop
        -- guard:claim_by_lanes
        if v_queue = any (v_laned) then
            v_picked := pawl._pick_lanes(v_queue, least(v_left, v_quota), p_worker.tenant, p_now, p_first_id, picked);
        else
            v_picked := pawl._pick(v_queue, least(v_left, v_quota), p_worker.tenant, p_now, p_first_id);
        end if;
        picked := picked || v_picked;
        v_left := v_left - cardinality(v_picked);
        exit when v_left <= 0;
        -- A lane is visited once: what was picked there is not counted as held yet.
        if cardinality(v_picked) = v_quota and v_queue <> all (v_laned) then
            v_more := v_more || v_queue;
        end if;
    end loop;
    foreach v_queue in array v_more loop
        exit when v_left <= 0;
        -- The rows that the first turn has locked are found again, because this transaction does not skip its own locks. So ask for them,
        -- too, and leave them out. The limit counts if other tasks have become ready ahead of them in the meantime.
        v_picked := array(
            select p
            from unnest(pawl._pick(v_queue, v_quota + v_left, p_worker.tenant, p_now, p_first_id)) p
            where p <> all (picked)
            limit v_left);
        picked := picked || v_picked;
        v_left := v_left - cardinality(v_picked);
    end loop;
    -- 1. A claims one task, so one ready queue of its thousand was looked up. 2. Other transactions hold the tasks of that queue, or the
    -- tasks are of other tenants. Without this A would get nothing although its other queues have tasks. So A scans a bounded number of
    -- other queues.
    -- guard:claim_looks_on
    if v_left > 0 and cardinality(queues) >= p_max and cardinality(queues) < cardinality(p_worker.queue_ids) then
        foreach v_queue in array pawl._ready_queues(p_worker.queue_ids, p_max + 100, p_worker.tenant) loop
            exit when v_left <= 0;
            continue when v_queue = any (queues) or v_queue = any (v_laned);
            -- At most ten of each queue, because larger claims of one queue take turns (see _pick()).
            v_picked := pawl._pick(v_queue, least(v_left, 10), p_worker.tenant, p_now, p_first_id);
            picked := picked || v_picked;
            v_left := v_left - cardinality(v_picked);
            queues := queues || v_queue;
        end loop;
    end if;
end
$$;
comment on function pawl._pick_tasks(pawl_data.worker, int, timestamptz, boolean) is 'picks tasks of all queues of a session, and locks them';
