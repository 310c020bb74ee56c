-- SPDX-License-Identifier: Apache-2.0
-- Claims of queues that have lanes: which lanes a claim visits, and how many tasks each may give. See record/lane.sql.
--
-- No claim exceeds a limit. A claim locks the row of a lane, and in a later statement counts the tasks of the lane that are held. Every claim
-- that held the lock before has committed by then, so that its tasks are counted; an end that has not been committed counts as held.

-- Moves ready tasks of the queue, picked and locked, to their lanes. Triggers put new tasks there themselves; tasks that become ready in any
-- other way (a retry, a wait that is over, a lost lease) are ready like those of other queues, and a claim moves them.
create or replace function pawl._move_to_lanes(p_tids tid[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    with moved as (
        update pawl_data.task t
        set place = 'l', lane = pawl._lane_of(t.tenant, t.limit_key)
        where t.ctid = any (p_tids)
        returning t.queue_id, t.lane, t.priority, t.due_at, t.run_id, t.task_no, t.tenant, t.limit_key, t.claimed_at
    ), placed as (
        select m.*, (
            -- A rate counts runs that start, and while_run runs that have not ended. One that counts already is ahead of all that wait to start.
            -- guard:goes_on
            select case when l.while_run then exists (
                            select from pawl_data.lane_hold h
                            where h.queue_id = m.queue_id and h.lane = m.lane and h.run_id = m.run_id and h.task_no = m.task_no)
                        else l.gap is not null and m.claimed_at is not null end
            from pawl._lane_terms(m.queue_id, m.lane) l) as goes_on
        from moved m
    ), joined as (
        insert into pawl_data.lane_task (queue_id, lane, priority, due_at, run_id, task_no)
        select p.queue_id, p.lane, (pawl._line_priorities(p.priority))[1 + p.goes_on::int], p.due_at, p.run_id, p.task_no from placed p
    )
    insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
    -- A claim should look at once, even if no other task of the lane may start.
    -- guard:goes_on_delta
    select p.queue_id, p.lane, case when p.goes_on then 'f' else pawl._come_kind(p.queue_id, p.lane) end, p.tenant, p.limit_key
    from (select distinct p.queue_id, p.lane, p.tenant, p.limit_key, p.goes_on from placed p) p;
end
$$;
comment on function pawl._move_to_lanes(tid[]) is 'puts ready tasks in line in their lanes';

-- How many of these tasks are not of a full lane.
create or replace function pawl._count_open(p_tids tid[])
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return (
        select count(*)
        from pawl_data.task t
        where t.ctid = any (p_tids)
          -- guard:move_full
          and not exists (
              select from pawl_data.lane l
              where l.queue_id = t.queue_id and l.lane = pawl._lane_of(t.tenant, t.limit_key) and l.state = 'f'
                -- Unless it counts already.
                and not exists (
                    select from pawl_data.lane_hold h
                    where h.queue_id = t.queue_id and h.lane = l.lane and h.run_id = t.run_id and h.task_no = t.task_no)
              offset 0));
end
$$;
comment on function pawl._count_open(tid[]) is 'how many tasks are not of a full lane';

-- Moves ready tasks of a queue to their lanes, for a claim of p_max tasks. 1. A claims one task, and stays in its transaction. 2. B claims.
-- Whatever A has moved is locked. So A moves few more than it takes; tasks of full lanes do not count, because they give nothing, and may be many
-- in front of others.
create or replace function pawl._fill_lanes(p_queue int, p_max int, p_tenant text, p_now timestamptz, p_first_id boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_picked tid[];
    v_most constant int := least(10, p_max + 4);
    v_moved int := 0;
begin
    for v_n in 1..20 loop
        v_picked := pawl._pick(p_queue, v_most, p_tenant, p_now, p_first_id);
        exit when cardinality(v_picked) = 0;
        -- guard:move_few
        v_moved := v_moved + pawl._count_open(v_picked);
        perform pawl._move_to_lanes(v_picked);
        exit when cardinality(v_picked) < v_most or v_moved >= p_max + 4;
    end loop;
end
$$;
comment on function pawl._fill_lanes(int, int, text, timestamptz, boolean) is 'moves ready tasks to their lanes';

-- Makes the row of a lane. 1. A makes it and stays in its transaction. 2. B wants to make the same. B would wait for A, and a claim must not
-- wait for as long as A likes: so it gives up after a moment. A holds the lane in any case.
create or replace function pawl._make_lane(p_queue int, p_lane uuid, p_tenant text, p_key text, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
-- guard:make_lane_timeout
set lock_timeout to '4ms'
as $$
begin
    insert into pawl_data.lane (queue_id, lane, tenant, limit_key, state, turn, turned_at)
    values (p_queue, p_lane, p_tenant, p_key, 'e', 0, p_now)
    on conflict on constraint lane_pkey do nothing;
exception
    when lock_not_available then
        null;
end
$$;
comment on function pawl._make_lane(int, uuid, text, text, timestamptz) is 'makes the row of a lane, unless another transaction is making it';

-- Lanes that deltas of a kind name, found by leaps from a random lane on, one look for each lane. Makes rows that are missing. lanes: empty
-- ones; full_lanes: those that are full, or wait for their rate. A lane in the rotation has its turn, and is returned with p_turning only.
create or replace function pawl._lanes_with_deltas(
    p_queue int, p_kind "char", p_tenant text, p_max int, p_turning boolean, p_now timestamptz, out lanes uuid[], out full_lanes uuid[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_low uuid := pawl._lane_bound(p_tenant, false);
    v_high uuid := pawl._lane_bound(p_tenant, true);
    -- Random, and the first half that of the tenant.
    v_start uuid := (case when p_tenant is null then left(md5(random()::text), 16) else left(replace(v_low::text, '-', ''), 16) end
                     || left(md5(random()::text), 16))::uuid;
    v_from uuid := v_start;
    v_wrapped boolean := false;
    v_delta record;
    v_state "char";
begin
    lanes := array[]::uuid[];
    full_lanes := array[]::uuid[];
    for v_n in 1..p_max loop
        select d.lane, d.delta_no, d.tenant, d.limit_key into v_delta
        from pawl_data.lane_delta d
        -- guard:delta_tenant
        where d.queue_id = p_queue and d.kind = p_kind and d.lane > v_from and d.lane <= v_high
        order by d.lane
        limit 1;
        if not found then
            exit when v_wrapped;
            v_wrapped := true;
            v_from := v_low;
            continue;
        end if;
        exit when v_wrapped and v_delta.lane > v_start;
        v_from := v_delta.lane;
        select l.state into v_state from pawl_data.lane l where l.queue_id = p_queue and l.lane = v_delta.lane;
        if not found then
            -- Two claims that find the same delta must not both make the lane: the second would wait for the first, if only for a moment.
            perform from pawl_data.lane_delta d
            where d.queue_id = p_queue and d.lane = v_delta.lane and d.kind = p_kind and d.delta_no = v_delta.delta_no
            for update skip locked;
            if found then
                perform pawl._make_lane(p_queue, v_delta.lane, v_delta.tenant, v_delta.limit_key, p_now);
            end if;
        end if;
        if v_state in ('f', 'w') then
            full_lanes := full_lanes || v_delta.lane;
        elsif v_state is null or v_state = 'e' or p_turning then
            lanes := lanes || v_delta.lane;
        end if;
    end loop;
end
$$;
comment on function pawl._lanes_with_deltas(int, "char", text, int, boolean, timestamptz) is 'lanes in which something has changed';

-- The first lanes of the rotation.
create or replace function pawl._lanes_in_turn(p_queue int, p_tenant text, p_max int)
returns uuid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_tenant <> '' then
        return array(
            select l.lane from pawl_data.lane l
            where l.queue_id = p_queue and l.state = 'r' and l.tenant = p_tenant and l.tenant <> ''
            order by l.turn
            limit p_max);
    end if;
    return array(
        select l.lane from pawl_data.lane l
        -- guard:rotation_tenant
        where l.queue_id = p_queue and l.state = 'r' and (p_tenant is null or l.tenant = p_tenant)
        order by l.turn
        limit p_max);
end
$$;
comment on function pawl._lanes_in_turn(int, text, int) is 'lanes whose turn is next';

-- Lanes of a queue whose rate lets a task start again. Among the first hundred of all queues: housekeeping puts them into the rotation.
create or replace function pawl._lanes_to_open(p_queue int, p_tenant text, p_max int, p_now timestamptz)
returns uuid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return array(
        select l.lane
        from (
            select l.queue_id, l.lane, l.tenant, l.opens_at from pawl_data.lane l where l.state = 'w' and l.opens_at <= p_now order by l.opens_at limit 100
        ) l
        -- guard:opening_tenant
        where l.queue_id = p_queue and (p_tenant is null or l.tenant = p_tenant)
        order by l.opens_at
        limit p_max);
end
$$;
comment on function pawl._lanes_to_open(int, text, int, timestamptz) is 'lanes whose rate lets a task start again';

-- Locks the first lanes of the rotation that no other claim has locked, none of p_not.
create or replace function pawl._free_lanes(p_queue int, p_tenant text, p_not uuid[], p_max int)
returns uuid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_tenant <> '' then
        return array(
            select l.lane from pawl_data.lane l
            where l.queue_id = p_queue and l.state = 'r' and l.tenant = p_tenant and l.tenant <> '' and l.lane <> all (p_not)
            order by l.turn
            limit p_max
            for update skip locked);
    end if;
    return array(
        select l.lane from pawl_data.lane l
        where l.queue_id = p_queue and l.state = 'r' and (p_tenant is null or l.tenant = p_tenant) and l.lane <> all (p_not)
        order by l.turn
        limit p_max
        for update skip locked);
end
$$;
comment on function pawl._free_lanes(int, text, uuid[], int) is 'locks lanes of the rotation';

-- Locks up to p_max tasks of a lane, none of p_not, which the claim has picked before; p_not are tasks of this lane and of others, p_had are of
-- this one. A lane with a limit or a rate is locked by the caller in an earlier statement. It gives no more tasks than may be held besides those
-- that are, and than may start. p_room: how many more tasks may count, in a queue with while_run; null: any number.
create or replace function pawl._pick_lane(p_queue int, p_lane uuid, p_max int, p_not tid[], p_had int, p_room int, p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
declare
    v_terms record;
    v_picked tid[] := array[]::tid[];
    v_starts int;
begin
    select l.* into v_terms from pawl._lane_terms(p_queue, p_lane) l;
    if v_terms.while_run then
        if v_terms.key_limit = 0 then
            return v_picked;
        end if;
        v_picked := pawl._pick_in_order(p_queue, p_lane, p_max, p_not, true);
        p_max := least(p_max - cardinality(v_picked), p_room);
    end if;
    if v_terms.key_limit is not null then
        -- guard:key_limit
        p_max := least(p_max, v_terms.key_limit - p_had - (
            select count(*) from (
                select from pawl_data.lane_hold h where h.queue_id = p_queue and h.lane = p_lane limit v_terms.key_limit) c));
    end if;
    if v_terms.gap is not null then
        if p_max > 0 and not v_terms.while_run then
            v_picked := pawl._pick_line(p_queue, p_lane, p_max, p_not, true);
            p_max := p_max - cardinality(v_picked);
        end if;
        v_starts := (
            select pawl._starts_left(pawl._paid_until(l.paid_until, v_terms.gap, v_terms.burst), v_terms.gap, v_terms.burst, p_now)
            from pawl_data.lane l where l.queue_id = p_queue and l.lane = p_lane);
        -- guard:key_rate
        p_max := least(p_max, v_starts - p_had);
    end if;
    if p_max > 0 and v_terms.while_run then
        v_picked := v_picked || pawl._pick_in_order(p_queue, p_lane, p_max, p_not || v_picked, false);
    elsif p_max > 0 then
        v_picked := v_picked || pawl._pick_line(p_queue, p_lane, p_max, p_not || v_picked, false);
    end if;
    return v_picked;
end
$$;
comment on function pawl._pick_lane(int, uuid, int, tid[], int, int, timestamptz) is 'locks tasks of one lane, within its limit and its rate';

-- Locks the first p_max tasks in the line of a lane. p_on: only tasks that go on, which are the first.
create or replace function pawl._pick_line(p_queue int, p_lane uuid, p_max int, p_not tid[], p_on boolean)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
begin
    return array(
        select t.ctid
        from pawl_data.lane_task w
        cross join lateral (
            select t.ctid
            from pawl_data.task t
            where t.run_id = w.run_id and t.task_no = w.task_no and t.place::text = 'l' and t.due_at = w.due_at
              -- A second visit in one claim. Its own locks skip nothing, so it would pick the tasks of the first visit again.
              -- guard:lane_not_twice
              and t.ctid <> all (p_not)
            for update skip locked
        ) t
        where w.queue_id = p_queue and w.lane = p_lane and w.priority < case when p_on then 0 else 32767 + 1 end
        order by w.priority, w.due_at, w.run_id, w.task_no
        limit p_max);
end
$$;
comment on function pawl._pick_line(int, uuid, int, tid[], boolean) is 'locks the first tasks in the line of a lane';

-- The same in a queue with while_run. Of the tasks that count for the limit (p_on) any, because they have started. Of the others the first in line,
-- up to one that another transaction has locked: none overtakes it.
create or replace function pawl._pick_in_order(p_queue int, p_lane uuid, p_max int, p_not tid[], p_on boolean)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
declare
    v_row record;
    v_tid tid;
    v_picked tid[] := array[]::tid[];
begin
    for v_row in
        select w.run_id, w.task_no, w.due_at,
               exists (select from pawl_data.lane_hold h
                       where h.queue_id = p_queue and h.lane = p_lane and h.run_id = w.run_id and h.task_no = w.task_no) as counts
        from pawl_data.lane_task w
        where w.queue_id = p_queue and w.lane = p_lane and w.priority < case when p_on then 0 else 32767 + 1 end
        order by w.priority, w.due_at, w.run_id, w.task_no
        -- Rows that an error has left are few.
        limit p_max + cardinality(p_not) + 100
    loop
        exit when cardinality(v_picked) >= p_max;
        -- guard:only_those_that_count
        continue when v_row.counts <> p_on;
        select t.ctid into v_tid
        from pawl_data.task t
        where t.run_id = v_row.run_id and t.task_no = v_row.task_no and t.place::text = 'l' and t.due_at = v_row.due_at
        for update skip locked;
        if found then
            if v_tid <> all (p_not) then
                v_picked := v_picked || v_tid;
            end if;
            continue;
        end if;
        -- guard:none_overtakes
        exit when not p_on and exists (
            select from pawl_data.task t
            where t.run_id = v_row.run_id and t.task_no = v_row.task_no and t.place::text = 'l' and t.due_at = v_row.due_at);
    end loop;
    return v_picked;
end
$$;
comment on function pawl._pick_in_order(int, uuid, int, tid[], boolean) is 'locks the first tasks in the line of a lane, none before another';

-- The lanes that a claim visits, in this order: a lane that deltas name, a lane of the rotation, and so on. Neither keep the other waiting. A
-- claim of one task begins more often with a delta: a lane that has no backlog is served within a few claims, whatever others have.
-- p_room: see _pick_lane().
create or replace function pawl._lanes_to_visit(p_queue int, p_tenant text, p_max int, p_room int, p_now timestamptz)
returns uuid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_freed record;
    v_come record;
    v_busy record;
    v_turns uuid[] := pawl._lanes_in_turn(p_queue, p_tenant, p_max + 4);
    v_opening uuid[] := pawl._lanes_to_open(p_queue, p_tenant, p_max, p_now);
    -- Often there are none. One look is less than two for each kind.
    v_deltas boolean := exists (select from pawl_data.lane_delta d where d.queue_id = p_queue);
    -- guard:new_and_old_take_turns
    v_turns_first boolean := random() < 0.25;
begin
    -- 1. The limit of a workflow is reached, with while_run, and tasks wait in ten thousand lanes of the rotation. 2. A task of a run that counts becomes ready.
    -- Without this it would wait until claims have visited all these lanes, which give nothing. Its lane has a delta: see _settle_lanes().
    -- guard:visit_goes_on
    select d.* into v_freed from pawl._lanes_with_deltas(p_queue, 'f', p_tenant, p_max, coalesce(p_room <= 0, false), p_now) d where v_deltas;
    if p_room <= 0 then
        return coalesce(v_freed.full_lanes || v_freed.lanes, '{}');
    end if;
    select d.* into v_come from pawl._lanes_with_deltas(p_queue, 't', p_tenant, p_max, false, p_now) d where v_deltas;
    -- Most of these lanes are in the rotation. See _come_kind().
    select d.* into v_busy from pawl._lanes_with_deltas(p_queue, 'b', p_tenant, case when cardinality(v_turns) < 16 then p_max else 8 end, false, p_now) d where v_deltas;
    -- 1. B, this claim, finds no lane in the rotation. 2. A takes tasks of a new lane, puts it into the rotation, removes its deltas, and commits.
    -- 3. B finds no deltas. Without a second look B would return nothing, and its worker would rest, though tasks wait. This look is after the
    -- deltas: a lane whose deltas were removed before is in the rotation.
    -- guard:turns_after_deltas
    if cardinality(v_turns) = 0 then
        v_turns := pawl._lanes_in_turn(p_queue, p_tenant, p_max + 4);
    end if;
    return array(
        select u.lane
        from (
            select d.lane, d.n, 2 as kind
            from unnest(v_freed.full_lanes || v_opening || v_freed.lanes || v_come.lanes || v_busy.lanes) with ordinality d (lane, n)
            union all
            select r.lane, r.n, case when v_turns_first then 1 else 3 end from unnest(v_turns) with ordinality r (lane, n)
        ) u
        order by u.n, u.kind)
        -- A trigger has left a delta in a full lane, which gives no task. It is visited last, to remove that delta: claims would leap over it
        -- until a task of the lane ends.
        || v_come.full_lanes || v_busy.full_lanes;
end
$$;
comment on function pawl._lanes_to_visit(int, text, int, int, timestamptz) is 'lanes that a claim visits, the first first';

-- Locks up to p_max tasks of a lane that another claim has locked, if it has no limit, no rate and no order: it needs no lock then, because each task has
-- its own.
create or replace function pawl._pick_locked_lane(p_queue int, p_lane uuid, p_max int, p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:limits_are_locked
    if (select l.key_limit is not null or l.gap is not null or l.while_run from pawl._lane_terms(p_queue, p_lane) l) then
        return array[]::tid[];
    end if;
    return pawl._pick_lane(p_queue, p_lane, p_max, array[]::tid[], 0, null, p_now);
end
$$;
comment on function pawl._pick_locked_lane(int, uuid, int, timestamptz) is 'locks tasks of a lane without a limit that another claim has locked';

-- How many of p_room runs may still be taken after these tasks, picked and locked; null: any number. In a queue with while_run tasks count already that
-- were claimed before. Strict, so that a queue without a limit as a whole does not look.
create or replace function pawl._room_left(p_room int, p_tids tid[])
returns int
language plpgsql
volatile
strict
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return p_room - (
        select count(*)
        from pawl_data.task t
        where t.ctid = any (p_tids)
          and not exists (
              select from pawl_data.lane_hold h
              where h.queue_id = t.queue_id and h.lane = t.lane and h.run_id = t.run_id and h.task_no = t.task_no offset 0));
end
$$;
comment on function pawl._room_left(int, tid[]) is 'how many more runs a limit as a whole leaves to a claim';

-- Locks up to p_max tasks of a queue that has lanes, and returns their row addresses. Lanes take turns: the lane that has given least is first,
-- and gives its share, a quantum times its weight. A quantum is an equal part of the claim, or a sixteenth. If the claim has room after the turns
-- of all lanes that it can lock, lanes without a limit that other claims have locked give a share, and then its own lanes give more. Whatever a
-- lane gives counts, so that its next turn comes later: see _settle_lanes(). p_had: tasks that the claim has picked in other queues.
create or replace function pawl._pick_lanes(p_queue int, p_max int, p_tenant text, p_now timestamptz, p_first_id boolean, p_had tid[])
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_started timestamptz := clock_timestamp();
    v_picked tid[];
    v_all tid[] := array[]::tid[];
    v_lanes uuid[];
    v_lane uuid;
    v_share int;
    v_quantum int;
    v_visited uuid[] := array[]::uuid[];
    v_nothing uuid[] := array[]::uuid[];
    -- Lanes that may give more than their share, and how much they have given.
    v_more uuid[] := array[]::uuid[];
    v_had int[] := array[]::int[];
    v_locked uuid[];
    v_skipped boolean;
    -- The lock of a limit precedes those of lanes.
    v_room int := pawl._limit_room(p_queue, p_had);
begin
    -- guard:held_limit
    if not (select q.while_run from pawl_data.lane_queue q where q.queue_id = p_queue) then
        p_max := least(p_max, v_room);
        -- From here on any number: it is in p_max.
        v_room := null;
    end if;
    if p_max <= 0 then
        return v_all;
    end if;
    perform pawl._fill_lanes(p_queue, p_max, p_tenant, p_now, p_first_id);
    -- A claim that found only lanes that others have locked looks again for a few milliseconds, as large claims of other queues do. It would
    -- return nothing otherwise, and its worker would rest.
    for v_try in 1..8 loop
        v_skipped := false;
        v_locked := array[]::uuid[];
        v_lanes := pawl._lanes_to_visit(p_queue, p_tenant, p_max + 4, v_room, p_now);
        v_quantum := ceil(p_max / least(greatest(cardinality(v_lanes), 1), 16)::numeric);
        for v_look in 1..2 loop
            if v_look = 2 then
                -- 1. A claim in a transaction that stays open has locked the first thousand lanes. 2. Without this, other claims would look at
                -- the first few of the rotation and return nothing, though further lanes have tasks.
                -- guard:look_further
                exit when not v_skipped or cardinality(v_all) >= p_max or cardinality(v_visited) >= p_max + 4;
                v_lanes := pawl._free_lanes(p_queue, p_tenant, v_visited, least(p_max + 4 - cardinality(v_visited), 16));
            end if;
            foreach v_lane in array v_lanes loop
                -- A claim that stays open holds the lanes that it has visited. So it visits few more than it takes tasks.
                exit when cardinality(v_all) >= p_max or cardinality(v_visited) >= p_max + 4;
                continue when v_lane = any (v_visited);
                -- 1. A and B visit a lane of which one more task may be held. 2. Both count what is held. Without the lock both would take one.
                -- guard:lane_lock
                perform from pawl_data.lane l where l.queue_id = p_queue and l.lane = v_lane for update skip locked;
                if not found then
                    v_skipped := true;
                    v_locked := v_locked || v_lane;
                    -- 1. A claim in a transaction that stays open has locked a lane. 2. Others have tasks for every claim. The lane would wait
                    -- for the end of that transaction. So it is the first now and then.
                    -- guard:kept_waiting
                    if random() < 0.1 and exists (
                        select from pawl_data.lane l where l.queue_id = p_queue and l.lane = v_lane and l.turned_at < p_now - interval '2 s') then
                        v_picked := pawl._pick_locked_lane(p_queue, v_lane, least(v_quantum, p_max - cardinality(v_all)), p_now);
                        v_all := v_all || v_picked;
                        v_visited := v_visited || v_lane;
                    end if;
                    continue;
                end if;
                v_visited := v_visited || v_lane;
                v_share := v_quantum * pawl._weight_of_lane(p_queue, v_lane);
                v_picked := pawl._pick_lane(p_queue, v_lane, least(v_share, p_max - cardinality(v_all)), array[]::tid[], 0, pawl._room_left(v_room, v_all), p_now);
                v_all := v_all || v_picked;
                if cardinality(v_picked) = 0 then
                    v_nothing := v_nothing || v_lane;
                elsif cardinality(v_picked) = v_share then
                    v_more := v_more || v_lane;
                    v_had := v_had || v_share;
                end if;
            end loop;
        end loop;
        -- 1. Eight workers claim from one tenant. Seven of them find its lane locked. Without this they would return nothing and rest, though a
        -- thousand tasks wait.
        -- guard:only_limits_are_locked
        foreach v_lane in array v_locked loop
            exit when cardinality(v_all) >= p_max;
            continue when v_lane = any (v_visited);
            v_visited := v_visited || v_lane;
            v_picked := pawl._pick_locked_lane(p_queue, v_lane, least(v_quantum * pawl._weight_of_lane(p_queue, v_lane), p_max - cardinality(v_all)), p_now);
            v_all := v_all || v_picked;
        end loop;
        for v_n in 1..cardinality(v_more) loop
            exit when cardinality(v_all) >= p_max;
            v_picked := pawl._pick_lane(p_queue, v_more[v_n],
                -- An equal part of what is left, or more if those before it had less.
                ceil((p_max - cardinality(v_all)) / (cardinality(v_more) - v_n + 1)::numeric)::int, v_all, v_had[v_n],
                pawl._room_left(v_room, v_all), p_now);
            v_all := v_all || v_picked;
        end loop;
        exit when cardinality(v_all) > 0 or not v_skipped or clock_timestamp() > v_started + interval '4 ms';
        perform pg_sleep(0.0005);
    end loop;
    if cardinality(v_nothing) > 0 then
        perform pawl._settle_lanes(array_fill(p_queue, array[cardinality(v_nothing)]), v_nothing, array_fill(0, array[cardinality(v_nothing)]),
            array_fill(0, array[cardinality(v_nothing)]), p_now);
    end if;
    return v_all;
end
$$;
comment on function pawl._pick_lanes(int, int, text, timestamptz, boolean, tid[]) is 'locks tasks of the lanes of a queue and returns their row addresses';

-- Which of these queues have lanes. Asks for the size of the table first, because that keeps no lock: see _claimer().
create or replace function pawl._laned(p_queues int[])
returns int[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    if pg_relation_size('pawl_data.lane_queue') = 0 then
        return array[]::int[];
    end if;
    return array(select q.queue_id from pawl_data.lane_queue q where q.queue_id = any (p_queues) order by q.queue_id);
end
$$;
comment on function pawl._laned(int[]) is 'queues that have lanes';

-- Whether a claim may find something in the lanes of a queue, as far as can be told without locks. A claim removes the deltas of the lanes
-- that it visits, so that this is false after a few claims if it was for nothing.
create or replace function pawl._lanes_open(p_queue int, p_tenant text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_low uuid := pawl._lane_bound(p_tenant, false);
    v_high uuid := pawl._lane_bound(p_tenant, true);
begin
    -- guard:open_limit
    if pawl._limit_full(p_queue) then
        -- Runs that go on count already.
        return (select q.while_run from pawl_data.lane_queue q where q.queue_id = p_queue)
               and exists (select from pawl_data.lane_delta d where d.queue_id = p_queue and d.kind = 'f' and d.lane between v_low and v_high);
    end if;
    return cardinality(pawl._lanes_in_turn(p_queue, p_tenant, 1)) > 0
        -- guard:open_rate
        or cardinality(pawl._lanes_to_open(p_queue, p_tenant, 1, pawl.now())) > 0
        -- guard:open_delta
        or exists (select from pawl_data.lane_delta d where d.queue_id = p_queue and d.kind = 'f' and d.lane between v_low and v_high)
        -- guard:open_come
        or exists (select from pawl_data.lane_delta d where d.queue_id = p_queue and d.kind = 't' and d.lane between v_low and v_high)
        -- guard:open_busy
        or exists (select from pawl_data.lane_delta d where d.queue_id = p_queue and d.kind = 'b' and d.lane between v_low and v_high);
end
$$;
comment on function pawl._lanes_open(int, text) is 'whether a claim may find tasks in lanes of a queue';

-- The first queue after p_after that has lanes in the rotation, or deltas. Found in indexes, however many queues have lanes.
create or replace function pawl._next_laned(p_after int)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return least(
        (select d.queue_id from pawl_data.lane_delta d where d.queue_id > p_after order by d.queue_id limit 1),
        (select l.queue_id from pawl_data.lane l where l.state = 'r' and l.queue_id > p_after order by l.queue_id limit 1),
        pawl._next_opening(p_after));
end
$$;
comment on function pawl._next_laned(int) is 'the next queue with lanes that a claim may visit';

-- The first queue after p_after of which _lanes_open() says so; or, if a hundred queues have lanes for others only, the next one.
create or replace function pawl._next_open(p_after int, p_tenant text)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_queue int := p_after;
begin
    if pg_relation_size('pawl_data.lane_queue') = 0 then
        return null;
    end if;
    for v_leap in 1..100 loop
        v_queue := pawl._next_laned(v_queue);
        exit when v_queue is null or pawl._lanes_open(v_queue, p_tenant);
    end loop;
    return v_queue;
end
$$;
comment on function pawl._next_open(int, text) is 'the next queue with tasks in lanes that a claim may find';

-- Whether _lanes_open() says so of any of these queues, which are in order. True also if that cannot be told after a hundred looks: a claim for
-- nothing does no harm, and a run that no worker looks for would wait for ever.
create or replace function pawl._any_open(p_queues int[], p_tenant text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_from int := p_queues[1];
    v_queue int;
    v_n int;
begin
    for v_leap in 1..100 loop
        if v_from is null then
            return false;
        end if;
        v_queue := pawl._next_laned(v_from - 1);
        if v_queue is null then
            return false;
        end if;
        v_n := width_bucket(v_queue, p_queues);
        if v_n > 0 and p_queues[v_n] = v_queue and pawl._lanes_open(v_queue, p_tenant) then
            return true;
        end if;
        v_from := p_queues[v_n + 1];
    end loop;
    -- guard:open_sure
    return true;
end
$$;
comment on function pawl._any_open(int[], text) is 'whether a claim may find tasks in lanes of any of these queues';

-- The queues that a claim scans: those that _ready_queues() found, and those of p_laned where a task may wait in a lane, from a random one on.
create or replace function pawl._with_lanes(p_ready int[], p_laned int[], p_max int)
returns int[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_queues int[] := p_ready;
    v_first int := p_laned[1 + floor(random() * cardinality(p_laned))::int];
    v_from int := v_first;
    v_queue int;
    v_n int;
    v_start int;
begin
    for v_turn in 1..2 loop
        for v_leap in 1..p_max + 4 loop
            v_queue := least(
                (select d.queue_id from pawl_data.lane_delta d where d.queue_id >= v_from order by d.queue_id limit 1),
                (select l.queue_id from pawl_data.lane l where l.state = 'r' and l.queue_id >= v_from order by l.queue_id limit 1),
                pawl._next_opening(v_from - 1));
            exit when v_queue is null;
            v_n := width_bucket(v_queue, p_laned);
            if v_n > 0 and p_laned[v_n] = v_queue and v_queue <> all (v_queues) then
                v_queues := v_queues || v_queue;
            end if;
            v_from := p_laned[v_n + 1];
            exit when v_from is null;
        end loop;
        v_from := p_laned[1];
        -- The first turn has looked at all of them.
        exit when v_first = v_from;
    end loop;
    v_start := 1 + floor(random() * cardinality(v_queues))::int;
    return v_queues[v_start:] || v_queues[:v_start - 1];
end
$$;
comment on function pawl._with_lanes(int[], int[], int) is 'queues with ready tasks, or with tasks that wait in lanes, in turns';

-- Whether a task counts for the limits of its queue already, though no worker holds it.
create or replace function pawl._counts(p_queue int, p_lane uuid, p_run uuid, p_task int)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return (select q.while_run from pawl_data.lane_queue q where q.queue_id = p_queue)
           and exists (
               select from pawl_data.lane_hold h where h.queue_id = p_queue and h.lane = p_lane and h.run_id = p_run and h.task_no = p_task)
           and pawl._lane_limit(p_queue, p_lane) is distinct from 0;
end
$$;
comment on function pawl._counts(int, uuid, uuid, int) is 'whether a task counts for a limit already, though no worker holds it';

-- Whether fewer tasks of a lane are held than its limit, as far as can be told without a lock.
create or replace function pawl._has_room(p_queue int, p_lane uuid)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_limit int := pawl._lane_limit(p_queue, p_lane);
begin
    return v_limit is null or v_limit > (
        select count(*) from (select from pawl_data.lane_hold h where h.queue_id = p_queue and h.lane = p_lane limit v_limit) c);
end
$$;
comment on function pawl._has_room(int, uuid) is 'whether a lane may give a task';

-- Locks one suspect task of a queue that has lanes, if its lane has room.
create or replace function pawl._pick_lane_suspect(p_queues int[], p_tenant text, p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_task pawl_data.task;
    v_lane uuid;
    v_counts boolean;
begin
    for v_task in
        select s.*
        from unnest(p_queues) q (queue_id)
        cross join lateral (
            -- The first suspect of each lane, among the first thousand suspects.
            select distinct on (t.tenant, t.limit_key) t.*
            from (
                select t.*
                from pawl_data.task t
                where t.place = 's' and t.queue_id = q.queue_id and (p_tenant is null or t.tenant = p_tenant)
                order by t.priority, t.due_at
                limit 1000
            ) t
            order by t.tenant, t.limit_key, t.priority, t.due_at
        ) s
        -- 1. Eleven suspects of a full lane come first. 2. Only ten are tried below. Without this no later suspect would ever be claimed.
        -- guard:suspect_room
        where pawl._has_room(s.queue_id, pawl._lane_of(s.tenant, s.limit_key))
              or pawl._counts(s.queue_id, pawl._lane_of(s.tenant, s.limit_key), s.run_id, s.task_no)
        order by s.priority, s.due_at
        limit 10
    loop
        v_lane := pawl._lane_of(v_task.tenant, v_task.limit_key);
        v_counts := pawl._counts(v_task.queue_id, v_lane, v_task.run_id, v_task.task_no);
        -- guard:suspect_held_limit
        continue when not v_counts and pawl._limit_room(v_task.queue_id, array[]::tid[]) = 0;
        perform pawl._make_lane(v_task.queue_id, v_lane, v_task.tenant, v_task.limit_key, p_now);
        perform from pawl_data.lane l where l.queue_id = v_task.queue_id and l.lane = v_lane for update skip locked;
        continue when not found;
        -- In a statement after the lock, as _pick_lane() does.
        -- guard:suspect_limit
        continue when not v_counts and (select count(*) from pawl_data.lane_hold h where h.queue_id = v_task.queue_id and h.lane = v_lane)
                      >= pawl._lane_limit(v_task.queue_id, v_lane);
        perform from pawl_data.task t where t.run_id = v_task.run_id and t.task_no = v_task.task_no and t.place = 's' for update skip locked;
        if found then
            update pawl_data.task t set lane = v_lane where t.run_id = v_task.run_id and t.task_no = v_task.task_no and t.lane is null;
            return array(select t.ctid from pawl_data.task t where t.run_id = v_task.run_id and t.task_no = v_task.task_no);
        end if;
    end loop;
    return array[]::tid[];
end
$$;
comment on function pawl._pick_lane_suspect(int[], text, timestamptz) is 'locks one suspect task of a lane that has room';

-- The claim has taken tasks of these runs from lanes, or has left them. Counts those that it holds, takes them out of the line, and decides what
-- becomes of their lanes. A lane of which the claim has left every task stays as it was, with its deltas.
create or replace function pawl._take_from_lanes(p_runs uuid[], p_session bigint, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_taken tid[] := array(
        select t.ctid from pawl_data.task t
        where t.run_id = any (p_runs) and t.task_no = 0
          -- 1. A claim has picked the tasks. 2. It leaves them, or gets nothing because its session has ended. Without the test they would be
          -- counted as held, and out of the line, though they wait.
          -- guard:lane_taken
          and t.place::text = 'h' and t.session_id = p_session);
    v_queues int[];
    v_lanes uuid[];
    v_counts int[];
    v_starts int[];
begin
    -- guard:lane_hold
    insert into pawl_data.lane_hold (queue_id, lane, run_id, task_no)
    select t.queue_id, t.lane, t.run_id, t.task_no from pawl_data.task t where t.ctid = any (v_taken)
    -- A row that an error has left counts for this claim.
    on conflict on constraint lane_hold_pkey do nothing;
    with gone as (
        delete from pawl_data.lane_task w
        where w.ctid = any (array(
            select d.ctid
            from pawl_data.task t
            cross join lateral (
                select d.ctid
                from pawl_data.lane_task d
                where d.queue_id = t.queue_id and d.lane = t.lane and d.priority = any (pawl._line_priorities(t.priority)) and d.due_at = t.due_at
                  and d.run_id = t.run_id and d.task_no = t.task_no
                offset 0
            ) d
            where t.ctid = any (v_taken)))
        returning w.queue_id, w.lane, w.priority
    )
    select array_agg(l.queue_id), array_agg(l.lane), array_agg(u.n), array_agg(coalesce(g.n, 0)) into v_queues, v_lanes, v_counts, v_starts
    from (select t.queue_id, t.lane, count(*)::int as n from pawl_data.task t where t.ctid = any (v_taken) group by t.queue_id, t.lane) u
    left join (
        -- guard:starts_count
        select g.queue_id, g.lane, count(*)::int as n from gone g where g.priority >= 0 group by g.queue_id, g.lane
    ) g on g.queue_id = u.queue_id and g.lane = u.lane
    cross join lateral (
        select l.queue_id, l.lane from pawl_data.lane l where l.queue_id = u.queue_id and l.lane = u.lane
        -- The claim has locked its lanes, except lanes without a limit that another claim has locked: these stay as they are.
        -- guard:settle_skip_locked
        for update skip locked
    ) l;
    -- The next claim that has the lock counts these. Without them a lane that many claims use at the same time would get more than its share.
    -- guard:taken_delta
    insert into pawl_data.lane_delta (queue_id, lane, kind, amount, tenant, limit_key)
    select u.queue_id, u.lane, 'd', u.n, u.tenant, u.limit_key
    from (
        select t.queue_id, t.lane, count(*)::int as n, t.tenant, t.limit_key
        from pawl_data.task t
        where t.ctid = any (v_taken) and t.lane <> all (coalesce(v_lanes, '{}'))
        group by t.queue_id, t.lane, t.tenant, t.limit_key
    ) u
    -- A lane that is alone takes nothing from others.
    where exists (select from pawl_data.lane o where o.queue_id = u.queue_id and o.state = 'r' and o.lane <> u.lane);
    if v_lanes is not null then
        perform pawl._settle_lanes(v_queues, v_lanes, v_counts, v_starts, p_now);
    end if;
end
$$;
comment on function pawl._take_from_lanes(uuid[], bigint, timestamptz) is 'counts claimed tasks as held in their lanes';
