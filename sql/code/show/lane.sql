-- SPDX-License-Identifier: Apache-2.0
-- Lanes as a person sees them: what waits in each, what is held, and why a lane does not move.

-- The end of a sentence that says why no claim takes a task of a lane; null if claims may.
create or replace function pawl._why_lane_shut(p_queue pawl_data.queue, p_lane uuid, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_own pawl_data.lane_setting;
    v_limit int := (select l.key_limit from pawl_data.lane_queue l where l.queue_id = p_queue.queue_id);
    v_held bigint;
    v_oldest record;
begin
    select s.* into v_own from pawl_data.lane_setting s where s.queue_id = p_queue.queue_id and s.lane = p_lane;
    if v_own.paused_at is not null then
        return format('%s paused %s of workflow %s at %s%s. Resume it with pawl.resume_lane()', v_own.paused_by, pawl._lane_name(v_own.tenant, v_own.limit_key),
            p_queue.name, to_char(v_own.paused_at, 'YYYY-MM-DD HH24:MI:SS'), coalesce(': ' || left(v_own.paused_why, 200), ''));
    end if;
    v_limit := coalesce(v_own.key_limit, v_limit);
    select count(*) into v_held
    from (select from pawl_data.lane_hold h where h.queue_id = p_queue.queue_id and h.lane = p_lane limit v_limit) c;
    if v_limit is null or v_held < v_limit then
        return null;
    end if;
    select t.claimed_at, w.name into v_oldest
    from (
        select h.run_id, h.task_no from pawl_data.lane_hold h where h.queue_id = p_queue.queue_id and h.lane = p_lane limit 1000
    ) h
    join pawl_data.task t on t.run_id = h.run_id and t.task_no = h.task_no
    left join pawl_data.worker w on w.session_id = t.session_id
    order by t.claimed_at
    limit 1;
    return format('%s of %s are held (%s)%s', v_held, v_limit,
        case when v_own.key_limit is not null then format('%s has set this limit', v_own.set_by) else format('key_limit of workflow %s', p_queue.name) end,
        coalesce(format('; the oldest is held by %s for %s', v_oldest.name, pawl._ago(p_now - v_oldest.claimed_at)), ''));
end
$$;
comment on function pawl._why_lane_shut(pawl_data.queue, uuid, timestamptz) is 'why no claim takes a task of a lane, or null';

create or replace function pawl._lane_name(p_tenant text, p_key text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_key is null then 'runs without a limit key' else format('limit key "%s"', left(p_key, 200)) end
           || case when p_tenant <> '' then format(' of tenant "%s"', p_tenant) else '' end;
end
$$;
comment on function pawl._lane_name(text, text) is 'a lane in words';

-- Lanes of a queue after p_after, in their order: those that have a row, a setting, or a task that waits.
create or replace function pawl._lanes_after(p_queue int, p_after uuid, p_high uuid, p_max int)
returns uuid[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return array(
        -- By leaps: a lane may have a million tasks.
        with recursive waiting (lane, n) as (
            (select w.lane, 1 from pawl_data.lane_task w where w.queue_id = p_queue and w.lane > p_after and w.lane <= p_high order by w.lane limit 1)
            union all
            select (select w.lane from pawl_data.lane_task w where w.queue_id = p_queue and w.lane > p.lane and w.lane <= p_high order by w.lane limit 1), p.n + 1
            from waiting p where p.lane is not null and p.n < p_max
        )
        select u.lane
        from (
            select p.lane from waiting p where p.lane is not null
            union
            (select l.lane from pawl_data.lane l where l.queue_id = p_queue and l.lane > p_after and l.lane <= p_high order by l.lane limit p_max)
            union
            (select s.lane from pawl_data.lane_setting s where s.queue_id = p_queue and s.lane > p_after and s.lane <= p_high order by s.lane limit p_max)
        ) u
        order by u.lane
        limit p_max);
end
$$;
comment on function pawl._lanes_after(int, uuid, uuid, int) is 'lanes of a queue in their order';

create or replace function pawl.list_lanes(
    workflow text, only_key text default null, only_tenant text default null, cursor uuid default null, max_rows int default 100)
returns table (
    limit_key text, tenant text, waiting bigint, held bigint, key_limit int, weight int, oldest_waiting interval, paused boolean, reason text, set_at timestamptz,
    set_by text, set_why text, next_cursor uuid)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    -- guard:list_lanes_tenant
    v_tenant text := coalesce(pawl._bound_tenant(), only_tenant);
    v_max int := least(greatest(max_rows, 0), 1000);
    v_queue pawl_data.queue;
    v_lanes uuid[];
begin
    select q.* into v_queue
    from pawl_data.queue q
    where q.queue_id = (pawl._workflow(list_lanes.workflow)).queue_id;
    v_lanes := case when only_key is not null then array[pawl._lane_of(coalesce(v_tenant, ''), only_key)]
                    else pawl._lanes_after(v_queue.queue_id, coalesce(cursor, pawl._lane_bound(v_tenant, false)), pawl._lane_bound(v_tenant, true), v_max) end;
    return query
    select coalesce(s.limit_key, l.limit_key, f.limit_key), coalesce(s.tenant, l.tenant, f.tenant), w.n, h.n,
           coalesce(s.key_limit, q.key_limit), coalesce(s.weight, 1), v_now - f.due_at, s.paused_at is not null, pawl._why_lane_shut(v_queue, u.lane, v_now),
           s.set_at, s.set_by, s.set_why, u.lane
    from unnest(v_lanes) with ordinality u (lane, n)
    left join pawl_data.lane_queue q on q.queue_id = v_queue.queue_id
    left join pawl_data.lane_setting s on s.queue_id = v_queue.queue_id and s.lane = u.lane
    left join pawl_data.lane l on l.queue_id = v_queue.queue_id and l.lane = u.lane
    cross join lateral (
        select count(*) as n from (select from pawl_data.lane_task w where w.queue_id = v_queue.queue_id and w.lane = u.lane limit 10001) c) w
    cross join lateral (
        select count(*) as n from (select from pawl_data.lane_hold h where h.queue_id = v_queue.queue_id and h.lane = u.lane limit 10001) c) h
    left join lateral (
        select t.limit_key, t.tenant, t.due_at
        from (
            select w.run_id, w.task_no from pawl_data.lane_task w
            where w.queue_id = v_queue.queue_id and w.lane = u.lane
            order by w.priority, w.due_at
            limit 1
        ) w
        join pawl_data.task t on t.run_id = w.run_id and t.task_no = w.task_no
    ) f on true
    where s.lane is not null or l.lane is not null or w.n > 0
    order by u.n;
end
$$;
comment on function pawl.list_lanes(text, text, text, uuid, int) is
'Lanes of a workflow: the runs with one tenant and limit_key (null: the runs of the tenant without one), if a run waits or has waited in the last hour, or an operator has set something. waiting and held are counted up to 10,001. key_limit is the limit that counts for the lane. oldest_waiting is of the run that is next. reason says why workers get no run of the lane: a pause, or the limit, with the oldest holder. set_at, set_by and set_why are of a limit or weight that set_lane() has set. only_key shows one lane, of only_tenant or the tenant ''''. Pass next_cursor of the last row as cursor to go on.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW002 unknown workflow.
Limits: 1,000 rows, 10,001 tasks of each counted.';
