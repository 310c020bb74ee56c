-- SPDX-License-Identifier: Apache-2.0
-- Lanes: which one a run is in, how a task comes into it and leaves it, and what becomes of a lane after a change. Claims are in
-- work/lane.sql.
--
-- No call that holds a task waits for a lane. A claim locks lanes, skipping locked ones, and then tasks, skipping locked ones. Every other call
-- inserts deltas and removes rows of tasks that it has locked.

-- The first half comes from the tenant, so that the lanes of a tenant are one range; the second from the tenant and the key. 64 bits each:
-- two of a million keys have the same lane with a probability below one in ten million, and then share its limit.
create or replace function pawl._lane_of(p_tenant text, p_key text)
returns uuid
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_tenant text := encode(sha256(convert_to(p_tenant, 'UTF8')), 'hex');
begin
    if p_key is null then
        return left(v_tenant, 32)::uuid;
    end if;
    return (left(v_tenant, 16)
            || left(encode(sha256(convert_to(p_tenant, 'UTF8') || e'\\x00'::bytea || convert_to(p_key, 'UTF8')), 'hex'), 16))::uuid;
end
$$;
comment on function pawl._lane_of(text, text) is 'the lane of a limit key in a tenant; without a key the lane of the tenant';

-- The lanes of one tenant have the same first half; null: the bounds of all lanes.
create or replace function pawl._lane_bound(p_tenant text, p_high boolean)
returns uuid
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_tenant is null then
        return rpad('', 32, case when p_high then 'f' else '0' end)::uuid;
    end if;
    return rpad(left(encode(sha256(convert_to(p_tenant, 'UTF8')), 'hex'), 16), 32, case when p_high then 'f' else '0' end)::uuid;
end
$$;
comment on function pawl._lane_bound(text, boolean) is 'the lowest and the highest lane of a tenant';

-- How many tasks of a lane may be held at a time: 0 while it is paused, null if any number. A database in which no operator has set anything
-- for a lane pays for a look at a size: see _claimer().
create or replace function pawl._lane_limit(p_queue int, p_lane uuid)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_limit int := (select q.key_limit from pawl_data.lane_queue q where q.queue_id = p_queue);
    v_own pawl_data.lane_setting;
begin
    if pg_relation_size('pawl_data.lane_setting') > 0 then
        select s.* into v_own from pawl_data.lane_setting s where s.queue_id = p_queue and s.lane = p_lane;
        -- guard:lane_paused
        if v_own.paused_at is not null then
            return 0;
        end if;
        -- guard:lane_own_limit
        v_limit := coalesce(v_own.key_limit, v_limit);
    end if;
    return v_limit;
end
$$;
comment on function pawl._lane_limit(int, uuid) is 'how many tasks of a lane may be held at a time';

-- The settings of a lane: how many of its tasks may be held (see _lane_limit), the microseconds between two starts (null: no rate), how
-- many tasks may start at once after a pause, and whether a run counts until it ends.
create or replace function pawl._lane_terms(p_queue int, p_lane uuid, out key_limit int, out gap bigint, out burst int, out while_run boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_rate text;
    v_own pawl_data.lane_setting;
begin
    select q.key_limit, q.key_rate, q.key_burst, q.while_run into key_limit, v_rate, burst, while_run
    from pawl_data.lane_queue q where q.queue_id = p_queue;
    if pg_relation_size('pawl_data.lane_setting') > 0 then
        select s.* into v_own from pawl_data.lane_setting s where s.queue_id = p_queue and s.lane = p_lane;
        key_limit := case when v_own.paused_at is not null then 0 else coalesce(v_own.key_limit, key_limit) end;
        -- guard:lane_own_rate
        if v_own.key_rate is not null then
            v_rate := v_own.key_rate;
            burst := v_own.key_burst;
        end if;
    end if;
    gap := pawl._rate_gap(v_rate);
    burst := coalesce(burst, 1);
end
$$;
comment on function pawl._lane_terms(int, uuid) is 'limit and rate of a lane';

-- The kind of delta that announces a new task of a lane. 1. A thousand tenants have a backlog, and trigger. 2. A new tenant triggers its first run. If all
-- deltas were of one kind, a claim, which leaps over a few of them, would find the new lane only by luck. A lane in the rotation, or one that
-- waits for its rate, has its turn in any case. It may leave the rotation before the trigger commits: so the trigger leaves a delta, which claims and housekeeping read, too.
create or replace function pawl._come_kind(p_queue int, p_lane uuid)
returns "char"
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    -- guard:come_kind
    return case when exists (select from pawl_data.lane l where l.queue_id = p_queue and l.lane = p_lane and l.state in ('r', 'w')) then 'b' else 't' end;
end
$$;
comment on function pawl._come_kind(int, uuid) is 'the kind of a delta for a new task of a lane';

-- The two places in line that a task may have: see pawl_data.lane_task.
create or replace function pawl._line_priorities(p_priority smallint)
returns smallint[]
language sql
immutable
return array[p_priority, (p_priority - 32768)::smallint];
comment on function pawl._line_priorities(smallint) is 'the priorities that a task may have in its line';

-- New runs whose task was inserted at place l: puts them in line, and leaves a delta for each lane.
create or replace function pawl._join_lanes(p_runs uuid[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    with joined as (
        insert into pawl_data.lane_task (queue_id, lane, priority, due_at, run_id, task_no)
        select t.queue_id, t.lane, t.priority, t.due_at, t.run_id, t.task_no
        from pawl_data.task t
        where t.run_id = any (p_runs) and t.task_no = 0 and t.place::text = 'l'
    )
    insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
    select d.queue_id, d.lane, pawl._come_kind(d.queue_id, d.lane), d.tenant, d.limit_key
    from (
        select distinct t.queue_id, t.lane, t.tenant, t.limit_key
        from pawl_data.task t
        where t.run_id = any (p_runs) and t.task_no = 0 and t.place::text = 'l'
    ) d;
end
$$;
comment on function pawl._join_lanes(uuid[]) is 'puts new tasks in line in their lanes';

-- Held tasks, locked by the caller, that are about to leave: makes room in their lanes, leaves deltas and wakes workers if tasks wait there.
create or replace function pawl._leave_lanes(p_tids tid[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
begin
    with freed as materialized (
        select t.queue_id, t.lane, t.tenant, t.limit_key, h.tid
        from pawl_data.task t
        cross join lateral (
            select h.ctid as tid
            from pawl_data.lane_hold h
            where h.queue_id = t.queue_id and h.lane = t.lane and h.run_id = t.run_id and h.task_no = t.task_no
            -- Housekeeping may be removing a row that an error has left.
            for update skip locked
        ) h
        where t.ctid = any (p_tids) and t.lane is not null
    ), gone as (
        delete from pawl_data.lane_hold h using freed f where h.ctid = f.tid
    )
    insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
    select f.queue_id, f.lane, 'f'::"char", f.tenant, f.limit_key
    from (select distinct f.queue_id, f.lane, f.tenant, f.limit_key from freed f) f
    -- A lane without a limit is never full. If it gets a limit while this transaction is open, the chore lanes finds it.
    -- guard:freed_delta
    where pawl._lane_limit(f.queue_id, f.lane) is not null;
    perform pawl._wake_one(w.queue_id, w.tenant, p_now)
    from (
        select distinct l.queue_id, case when v_bound then l.tenant else '' end as tenant
        from (
            select distinct t.queue_id, t.lane, t.tenant
            from pawl_data.task t
            where t.ctid = any (p_tids) and t.lane is not null
        ) l
        where pawl._lane_limit(l.queue_id, l.lane) is not null
          and exists (select from pawl_data.lane_task w where w.queue_id = l.queue_id and w.lane = l.lane offset 0)
    ) w;
    perform pawl._wake_limit(q.queue_id, p_now)
    from (select distinct t.queue_id from pawl_data.task t where t.ctid = any (p_tids) and t.lane is not null) q;
end
$$;
comment on function pawl._leave_lanes(tid[], timestamptz) is 'makes room in the lanes of held tasks that leave';

-- One task, locked by the caller, that leaves place h or l, or ends (p_ends). In a queue with while_run it makes room only when it ends.
create or replace function pawl._leave_lane(p_task pawl_data.task, p_now timestamptz, p_ends boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_gone int;
begin
    -- guard:leave_line
    if p_task.place = 'l' then
        delete from pawl_data.lane_task w
        where w.ctid = any (array(
            select d.ctid
            from pawl_data.lane_task d
            where d.queue_id = p_task.queue_id and d.lane = p_task.lane
              and d.priority = any (pawl._line_priorities(p_task.priority)) and d.due_at = p_task.due_at
              and d.run_id = p_task.run_id and d.task_no = p_task.task_no
            for update skip locked));
    end if;
    -- guard:while_run
    if not p_ends and (p_task.place = 'l' or (select q.while_run from pawl_data.lane_queue q where q.queue_id = p_task.queue_id)) then
        return;
    end if;
    delete from pawl_data.lane_hold h
    where h.ctid = any (array(
        select d.ctid
        from pawl_data.lane_hold d
        where d.queue_id = p_task.queue_id and d.lane = p_task.lane and d.run_id = p_task.run_id and d.task_no = p_task.task_no
        for update skip locked));
    get diagnostics v_gone = row_count;
    if v_gone > 0 and pawl._lane_limit(p_task.queue_id, p_task.lane) is not null then
        insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
        values (p_task.queue_id, p_task.lane, 'f', p_task.tenant, p_task.limit_key);
        -- 1. A, this call, kills a held run; no task waits in its lane. 2. A trigger adds one, and commits; the worker that it notifies finds the
        -- lane full, and rests. 3. A commits. So it notifies a worker whatever it sees. A worker that ends a run claims next: see _leave_lanes().
        -- guard:leave_lane_wakes
        perform pawl._wake_one(p_task.queue_id, p_task.tenant, p_now);
    end if;
    if v_gone > 0 then
        perform pawl._wake_limit(p_task.queue_id, p_now);
    end if;
end
$$;
comment on function pawl._leave_lane(pawl_data.task, timestamptz, boolean) is 'takes a task out of its lane, or makes room in it';

create or replace function pawl._weight_of_lane(p_queue int, p_lane uuid)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    if pg_relation_size('pawl_data.lane_setting') = 0 then
        return 1;
    end if;
    -- guard:lane_weight
    return coalesce((select s.weight from pawl_data.lane_setting s where s.queue_id = p_queue and s.lane = p_lane), 1);
end
$$;
comment on function pawl._weight_of_lane(int, uuid) is 'how many shares a lane gives in a turn';

-- Decides what becomes of lanes that the caller has locked: full, empty, or in the rotation. First the deltas go. 1. A trigger, or
-- an end, commits before that statement: its delta goes, and the next statement, which is later, sees what it did. 2. It commits
-- afterwards: its delta stays, and a claim looks again. p_counts: how many tasks the caller has taken from each; p_starts: how many of them for
-- the first time in their round, which counts for the rate.
create or replace function pawl._settle_lanes(p_queues int[], p_lanes uuid[], p_counts int[], p_starts int[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_taken int[];
    -- The price of a task. A lane never has more than a thousand tasks less than the last lane: it makes up for no more.
    v_unit constant bigint := 10000;
begin
    with gone as (
        delete from pawl_data.lane_delta d
        where d.ctid = any (array(
            select s.ctid
            from unnest(p_queues, p_lanes) u (queue_id, lane)
            cross join unnest(array['f', 't', 'b', 'd']::"char"[]) k (kind)
            cross join lateral (
                select s.ctid from pawl_data.lane_delta s
                where s.queue_id = u.queue_id and s.kind = k.kind and s.lane = u.lane
                order by s.delta_no
                limit 1000
            ) s))
        returning d.queue_id, d.lane, d.amount
    )
    select array_agg(c.amount order by c.n) into v_taken
    from (
        -- The sum for each element of the arguments: lanes of different queues have the same names.
        select u.n, sum(g.amount)::int as amount
        from unnest(p_queues, p_lanes) with ordinality u (queue_id, lane, n)
        left join gone g on g.queue_id = u.queue_id and g.lane = u.lane
        group by u.n
    ) c;
    update pawl_data.lane l
    set state = s.state, turn = s.turn, turned_at = p_now, paid_until = s.paid_until, opens_at = case when s.state = 'w' then s.opens_at end
    from (
        select o.queue_id, o.lane, p.paid_until, p.opens_at,
               -- The limit as it is now: 1. A claim has read a limit. 2. An operator raises it, and leaves a delta in this lane. 3. The
               -- claim has removed that delta. With the older limit the lane would be full, and no claim would look again.
               case -- Tasks that go on count already.
                    -- guard:goes_on_in_full_lane
                    when m.while_run and m.key_limit is distinct from 0 and exists (
                        select from pawl_data.lane_task w where w.queue_id = o.queue_id and w.lane = o.lane and w.priority < 0) then 'r'::"char"
                    when (select count(*) from (select from pawl_data.lane_hold h where h.queue_id = o.queue_id and h.lane = o.lane limit m.key_limit) c)
                         >= m.key_limit then 'f'
                    -- Tasks that have started before are first in line, and start in any case.
                    -- guard:lane_waits
                    when p.opens_at > p_now
                         and not exists (
                             select from pawl_data.lane_task w where w.queue_id = o.queue_id and w.lane = o.lane and w.priority < 0)
                         and exists (select from pawl_data.lane_task w where w.queue_id = o.queue_id and w.lane = o.lane) then 'w'
                    when exists (select from pawl_data.lane_task w where w.queue_id = o.queue_id and w.lane = o.lane) then 'r'
                    else 'e' end as state,
               -- 1. A lane that was empty for a day has tasks again. 2. Without the bounds claims would serve it alone until it has given as much
               -- as other lanes, or not at all until these have given as much as it did.
               -- guard:turn_joins
               greatest(case when o.state = 'r' then o.turn else least(greatest(o.turn, r.first), r.first + 16 * v_unit) end, r.last - 1000 * v_unit)
               -- Tasks that claims have taken without the lock count, too. A lane that gave nothing loses a task.
               -- guard:turn_counts
               + greatest(u.given + coalesce(u.taken, 0), 1) * v_unit / pawl._weight_of_lane(o.queue_id, o.lane) as turn
        from unnest(p_queues, p_lanes, p_counts, p_starts, v_taken) u (queue_id, lane, given, starts, taken)
        cross join lateral (
            select o.queue_id, o.lane, o.state, o.turn, o.paid_until from pawl_data.lane o where o.queue_id = u.queue_id and o.lane = u.lane offset 0) o
        -- Once for each queue: for each lane it would read all lanes of the call.
        join (
            select q.queue_id,
                   coalesce((select i.turn from pawl_data.lane i where i.queue_id = q.queue_id and i.state = 'r' order by i.turn limit 1),
                            (select max(i.turn) from pawl_data.lane i where i.queue_id = q.queue_id and i.lane = any (p_lanes))) as first,
                   coalesce((select i.turn from pawl_data.lane i where i.queue_id = q.queue_id and i.state = 'r' order by i.turn desc limit 1), 0) as last
            from (select distinct n as queue_id from unnest(p_queues) n) q
            offset 0
        ) r on r.queue_id = u.queue_id
        cross join lateral (select m.* from pawl._lane_terms(o.queue_id, o.lane) m offset 0) m
        cross join lateral (
            select p.paid_until, pawl._after(p.paid_until, - m.gap * (m.burst - 1)) as opens_at
            from (
                -- guard:rate_paid
                select case when m.gap is null then o.paid_until
                            when u.starts > 0 then pawl._after(greatest(pawl._paid_until(o.paid_until, m.gap, m.burst), p_now), m.gap * u.starts)
                            else pawl._paid_until(o.paid_until, m.gap, m.burst) end as paid_until
                offset 0
            ) p
            offset 0
        ) p
    ) s
    where l.queue_id = s.queue_id and l.lane = s.lane;
    -- 1. The limit of a workflow is reached, with while_run. 2. Two runs of a lane that count go on; a claim takes one of them, and this statement
    -- has removed the deltas. Without a new one no claim would look for the other until a run has ended: see _lanes_open().
    -- guard:goes_on_left
    insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
    select l.queue_id, l.lane, 'f'::"char", l.tenant, l.limit_key
    from unnest(p_queues, p_lanes) u (queue_id, lane)
    cross join lateral (
        select q.queue_id from pawl_data.lane_queue q where q.queue_id = u.queue_id and q.while_run and q.limit_no is not null offset 0) q
    cross join lateral (
        select l.queue_id, l.lane, l.tenant, l.limit_key from pawl_data.lane l where l.queue_id = q.queue_id and l.lane = u.lane and l.state = 'r' offset 0) l
    where exists (select from pawl_data.lane_task w where w.queue_id = l.queue_id and w.lane = l.lane and w.priority < 0);
end
$$;
comment on function pawl._settle_lanes(int[], uuid[], int[], int[], timestamptz) is 'sets the state of lanes after a change, and their next turn';
