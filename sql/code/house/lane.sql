-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping of lanes: looks at every lane in turn, repairs what an error has left, and forgets lanes that are no longer used.

-- How many tasks of a lane are held, of the first p_max rows, and none that an error has left.
create or replace function pawl._held_in_lane(p_queue int, p_lane uuid, p_max int)
returns bigint
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_while_run boolean := (select q.while_run from pawl_data.lane_queue q where q.queue_id = p_queue);
begin
    return (
        select count(*)
        from (select h.run_id, h.task_no from pawl_data.lane_hold h where h.queue_id = p_queue and h.lane = p_lane limit p_max) h
        where exists (select from pawl_data.task t where t.run_id = h.run_id and t.task_no = h.task_no and (t.place::text = 'h' or v_while_run) offset 0));
end
$$;
comment on function pawl._held_in_lane(int, uuid, int) is 'how many tasks of a lane are held';

-- Whether a lane whose queue has a limit counts a task that is not held, among its first thousand rows: an error has left the row, or
-- limit_while of the workflow was run before. No other check sees it, because such a lane need not be full.
create or replace function pawl._counts_too_much(p_queue int, p_lane uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_while_run boolean := (select q.while_run from pawl_data.lane_queue q where q.queue_id = p_queue and q.limit_no is not null);
begin
    return v_while_run is not null and exists (
        select
        from (select h.run_id, h.task_no from pawl_data.lane_hold h where h.queue_id = p_queue and h.lane = p_lane limit 1000) h
        where not exists (
            select from pawl_data.task t where t.run_id = h.run_id and t.task_no = h.task_no and (t.place::text = 'h' or v_while_run) offset 0));
end
$$;
comment on function pawl._counts_too_much(int, uuid) is 'whether a task counts for the limit of its workflow that should not';

create or replace function pawl._is_line_broken(p_queue int, p_lane uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return exists (
        select
        from (
            select w.run_id, w.task_no, w.due_at from pawl_data.lane_task w
            where w.queue_id = p_queue and w.lane = p_lane
            order by w.priority, w.due_at, w.run_id, w.task_no
            limit 1
        ) w
        where not exists (
            select from pawl_data.task t
            where t.run_id = w.run_id and t.task_no = w.task_no and t.place::text = 'l' and t.due_at = w.due_at offset 0));
end
$$;
comment on function pawl._is_line_broken(int, uuid) is 'whether the first row of a lane is of a task that does not wait there';

-- Walks the lanes, 500 at a time. Every call that takes a task out of its place removes the row of the task in its lane. If one did not, the
-- lane would stay shut, or in the rotation, for ever; so such rows are found and removed here.
create or replace function pawl._chore_lanes(p_now timestamptz, p_chore pawl_data.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_from json := coalesce(p_chore.position, '[0, "00000000-0000-0000-0000-000000000000"]')::json;
    v_queues int[];
    v_lanes uuid[];
    v_last json;
    v_count int;
begin
    -- A database without lanes pays for a look at a size: see _claimer().
    if pg_relation_size('pawl_data.lane_queue') = 0 then
        return interval '10 s';
    end if;
    with piece as materialized (
        select l.queue_id, l.lane
        from pawl_data.lane l
        where (l.queue_id, l.lane) > ((v_from ->> 0)::int, (v_from ->> 1)::uuid)
        order by l.queue_id, l.lane
        limit 500
    )
    select count(*), (array_agg(json_build_array(p.queue_id, p.lane) order by p.queue_id desc, p.lane desc))[1]
    into v_count, v_last
    from piece p;
    if v_count > 0 then
        -- Read without locks first: of the lanes that claims use only those are locked that have something to repair.
        select array_agg(f.queue_id), array_agg(f.lane) into v_queues, v_lanes
        from (
            select l.queue_id, l.lane
            from pawl_data.lane l
            where (l.queue_id, l.lane) > ((v_from ->> 0)::int, (v_from ->> 1)::uuid)
              and (l.queue_id, l.lane) <= ((v_last ->> 0)::int, (v_last ->> 1)::uuid)
              and (-- The clock was set back: see _paid_until().
                   -- guard:opens_clock
                   l.state = 'w' and coalesce((select l.opens_at > p_now + make_interval(secs => m.gap / 1000000.0 + 1) from pawl._lane_terms(l.queue_id, l.lane) m), true)
                   or l.state = 'e' and (l.turned_at < p_now - interval '1 hour' or l.turned_at > p_now + interval '1 hour')
                   or l.state = 'f' and coalesce((
                       select pawl._held_in_lane(l.queue_id, l.lane, m.most) < m.most
                       from (select pawl._lane_limit(l.queue_id, l.lane) as most offset 0) m), true)
                   or pawl._is_line_broken(l.queue_id, l.lane)
                   -- guard:limit_recount
                   or pawl._counts_too_much(l.queue_id, l.lane))
            for update of l skip locked
        ) f;
        if v_lanes is not null then
            perform pawl._repair_lanes(v_queues, v_lanes, p_now);
        end if;
    end if;
    update pawl_data.chore c set position = case when v_count = 500 then v_last::text end where c.chore = 'lanes';
    return case when v_count = 500 then interval '0.2 s' else interval '10 s' end;
end
$$;
comment on function pawl._chore_lanes(timestamptz, pawl_data.chore) is 'repairs lanes, and forgets those that are no longer used';

-- Puts lanes whose rate lets a task start again into the rotation, and wakes workers for them.
create or replace function pawl._open_lanes(p_now timestamptz, p_max int, p_tenant text)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
    v_queues int[];
    v_lanes uuid[];
begin
    -- A database without lanes pays for a look at a size: see _claimer().
    if pg_relation_size('pawl_data.lane_queue') = 0 then
        return 0;
    end if;
    select array_agg(l.queue_id), array_agg(l.lane) into v_queues, v_lanes
    from (
        select l.queue_id, l.lane
        from pawl_data.lane l
        where l.ctid = any (array(
            select d.ctid
            -- Lanes of other tenants are many only if no session ticks for these tenants.
            from (
                select d.ctid, d.tenant, d.opens_at from pawl_data.lane d where d.state = 'w' and d.opens_at <= p_now order by d.opens_at limit 5000
            ) d
            -- guard:opens_own_tenant
            where p_tenant is null or d.tenant = p_tenant
            order by d.opens_at
            limit p_max))
        for update skip locked
    ) l;
    if v_lanes is null then
        return 0;
    end if;
    perform pawl._settle_lanes(v_queues, v_lanes, array_fill(0, array[cardinality(v_lanes)]), array_fill(0, array[cardinality(v_lanes)]), p_now);
    -- guard:opening_wakes
    perform pawl._wake_one(w.queue_id, w.tenant, p_now)
    from (
        select distinct l.queue_id, case when v_bound then l.tenant else '' end as tenant
        from unnest(v_queues, v_lanes) u (queue_id, lane)
        join pawl_data.lane l on l.queue_id = u.queue_id and l.lane = u.lane
        where l.state = 'r'
    ) w;
    return cardinality(v_lanes);
end
$$;
comment on function pawl._open_lanes(timestamptz, int, text) is 'opens lanes whose rate lets a task start again';

-- Lanes that the caller has locked.
create or replace function pawl._repair_lanes(p_queues int[], p_lanes uuid[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    -- guard:lane_recount
    delete from pawl_data.lane_hold h
    where h.ctid = any (array(
        select d.ctid
        from unnest(p_queues, p_lanes) u (queue_id, lane)
        cross join lateral (
            select d.ctid, d.queue_id, d.run_id, d.task_no from pawl_data.lane_hold d where d.queue_id = u.queue_id and d.lane = u.lane limit 10000
        ) d
        where not exists (
            select from pawl_data.task t
            where t.run_id = d.run_id and t.task_no = d.task_no
              and (t.place::text = 'h' or (select q.while_run from pawl_data.lane_queue q where q.queue_id = d.queue_id))
            offset 0)));
    delete from pawl_data.lane_task w
    where w.ctid = any (array(
        select d.ctid
        from unnest(p_queues, p_lanes) u (queue_id, lane)
        cross join lateral (
            select d.ctid, d.run_id, d.task_no, d.due_at from pawl_data.lane_task d
            where d.queue_id = u.queue_id and d.lane = u.lane order by d.priority, d.due_at, d.run_id, d.task_no limit 1000
        ) d
        where not exists (
            select from pawl_data.task t
            where t.run_id = d.run_id and t.task_no = d.task_no and t.place::text = 'l' and t.due_at = d.due_at offset 0)));
    -- 1. This statement sees an empty lane and deletes it. 2. A trigger puts a task into it, and leaves a delta. 3. If that delta went now, no claim
    -- would make the lane again, and the task would wait for ever. So the deltas of a lane that is gone stay.
    -- guard:gone_lane_keeps_deltas
    with gone as (
        delete from pawl_data.lane l
        using unnest(p_queues, p_lanes) u (queue_id, lane)
        where l.queue_id = u.queue_id and l.lane = u.lane and l.state = 'e'
          and not exists (select from pawl_data.lane_task w where w.queue_id = l.queue_id and w.lane = l.lane)
          and not exists (select from pawl_data.lane_hold h where h.queue_id = l.queue_id and h.lane = l.lane)
          -- 1. A rate is 1/day, and a run has started. 2. Nothing else happens for an hour. Without this the next would start at once.
          -- guard:gone_lane_is_paid
          and coalesce(l.paid_until <= p_now, true)
          and not exists (
              select from pawl_data.lane_delta d where d.queue_id = l.queue_id and d.kind in ('f', 't', 'b', 'd') and d.lane = l.lane)
        returning l.queue_id, l.lane
    )
    select coalesce(array_agg(u.queue_id), '{}'), coalesce(array_agg(u.lane), '{}') into p_queues, p_lanes
    from unnest(p_queues, p_lanes) u (queue_id, lane)
    where not exists (select from gone g where g.queue_id = u.queue_id and g.lane = u.lane);
    perform pawl._settle_lanes(p_queues, p_lanes, array_fill(0, array[cardinality(p_lanes)]), array_fill(0, array[cardinality(p_lanes)]), p_now);
end
$$;
comment on function pawl._repair_lanes(int[], uuid[], timestamptz) is 'removes what an error has left in lanes, and lanes that are no longer used';

-- The next p_max lanes in which tasks wait, one look for each, and which of them no claim would visit: neither a row nor a delta names them.
create or replace function pawl._lines(p_queue int, p_lane uuid, p_max int)
returns table (queue_id int, lane uuid, lost boolean)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
#variable_conflict use_column
begin
    return query
    with recursive line (queue_id, lane, n) as (
        select f.queue_id, f.lane, 1
        from (
            select w.queue_id, w.lane from pawl_data.lane_task w
            where (w.queue_id, w.lane) > (p_queue, p_lane)
            order by w.queue_id, w.lane
            limit 1
        ) f
        union all
        select f.queue_id, f.lane, l.n + 1
        from line l
        cross join lateral (
            select w.queue_id, w.lane from pawl_data.lane_task w
            where (w.queue_id, w.lane) > (l.queue_id, l.lane)
            order by w.queue_id, w.lane
            limit 1
        ) f
        where l.n < p_max
    )
    select l.queue_id, l.lane,
           -- A full lane is opened by the chore that walks over lanes.
           not exists (select from pawl_data.lane x where x.queue_id = l.queue_id and x.lane = l.lane and x.state <> 'e')
           and not exists (
               select from pawl_data.lane_delta d where d.queue_id = l.queue_id and d.kind in ('f', 't', 'b') and d.lane = l.lane)
    from line l;
end
$$;
comment on function pawl._lines(int, uuid, int) is 'lanes in which tasks wait, and whether a claim visits them';

-- Walks the lanes in which tasks wait, 500 at a time. If an error left tasks in a lane that no claim visits, they would wait for ever; so a
-- delta is left there. It is a hint, and does no harm where a claim has just come.
create or replace function pawl._chore_lines(p_chore pawl_data.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_from json := coalesce(p_chore.position, '[0, "00000000-0000-0000-0000-000000000000"]')::json;
    v_piece record;
begin
    -- A database without lanes pays for a look at a size: see _claimer().
    if pg_relation_size('pawl_data.lane_queue') = 0 then
        return interval '10 s';
    end if;
    with piece as materialized (
        select l.* from pawl._lines((v_from ->> 0)::int, (v_from ->> 1)::uuid, 500) l
    ), named as (
        insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
        select p.queue_id, p.lane, 't'::"char", t.tenant, t.limit_key
        from piece p
        cross join lateral (
            select t.tenant, t.limit_key
            from pawl_data.lane_task w
            join pawl_data.task t on t.run_id = w.run_id and t.task_no = w.task_no
            where w.queue_id = p.queue_id and w.lane = p.lane
            limit 1
        ) t
        -- guard:line_named
        where p.lost
    )
    select count(*) as n, (array_agg(json_build_array(p.queue_id, p.lane) order by p.queue_id desc, p.lane desc))[1] as last
    into v_piece
    from piece p;
    update pawl_data.chore c set position = case when v_piece.n = 500 then v_piece.last::text end where c.chore = 'lines';
    return case when v_piece.n = 500 then interval '0.2 s' else interval '10 s' end;
end
$$;
comment on function pawl._chore_lines(pawl_data.chore) is 'leaves a delta in lanes with tasks that no claim visits';
