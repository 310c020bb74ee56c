-- SPDX-License-Identifier: Apache-2.0
-- Lanes as a person sees them: what waits in each, what is held, and why a lane does not move.

-- The task that has counted longest for a limit: its worker, or with limit_while run a run that no worker holds.
create or replace function pawl._oldest_text(p_run uuid, p_worker text, p_since interval)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_run is null then ''
                when p_worker is null then format('; the oldest is run %s, which has not ended, claimed %s ago', p_run, pawl._ago(p_since))
                else format('; the oldest is held by %s for %s', p_worker, pawl._ago(p_since)) end;
end
$$;
comment on function pawl._oldest_text(uuid, text, interval) is 'the end of a sentence that says who is counted longest for a limit';

-- The end of a sentence for a queue of which as many tasks are held as its limit allows.
create or replace function pawl._why_limit_full(p_queue pawl_data.queue, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_limit record;
    v_name text;
    v_oldest record;
    v_most record;
begin
    select l.* into v_limit from pawl._limit_of(p_queue.queue_id) l;
    select l.name into v_name from pawl_data.held_limit l where l.limit_no = v_limit.limit_no;
    select t.claimed_at, w.name, t.run_id into v_oldest
    from unnest(v_limit.queues) q (queue_id)
    cross join lateral (select h.run_id, h.task_no from pawl_data.lane_hold h where h.queue_id = q.queue_id limit 1000) h
    join pawl_data.task t on t.run_id = h.run_id and t.task_no = h.task_no
    left join pawl_data.worker w on w.session_id = t.session_id
    -- guard:why_limit_tenant
    where pawl._bound_tenant(null) is null
    order by t.claimed_at
    limit 1;
    select q.name, pawl._count_held(array[q.queue_id], v_limit.most) as n into v_most
    from pawl_data.queue q
    where q.queue_id = any (v_limit.queues) and v_name is not null and pawl._bound_tenant(null) is null
    order by 2 desc, 1
    limit 1;
    return format('%1$s of %1$s are held (%2$s)%3$s%4$s', v_limit.most,
        case when v_name is null then format('limit of workflow %s', p_queue.name) else format('limit "%s"', v_name) end,
        case when v_most.n > 0 then format(', %s of them of workflow %s', v_most.n, v_most.name) else '' end,
        pawl._oldest_text(v_oldest.run_id, v_oldest.name, p_now - v_oldest.claimed_at));
end
$$;
comment on function pawl._why_limit_full(pawl_data.queue, timestamptz) is 'why the limit of a queue holds its tasks back';

-- From when on a task of a lane may start, by the rate of the lane; null: at once. A lane that was never used has no row.
create or replace function pawl._next_start(p_queue int, p_lane uuid)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select pawl._after(pawl._paid_until(l.paid_until, m.gap, m.burst), - m.gap * (m.burst - 1))
        from pawl_data.lane l
        cross join lateral pawl._lane_terms(l.queue_id, l.lane) m
        where l.queue_id = p_queue and l.lane = p_lane and m.gap is not null);
end
$$;
comment on function pawl._next_start(int, uuid) is 'from when on a task of a lane may start, or null';

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
    v_next timestamptz;
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
        -- guard:why_held_limit
        if pawl._limit_full(p_queue.queue_id) then
            return pawl._why_limit_full(p_queue, p_now);
        end if;
        v_next := pawl._next_start(p_queue.queue_id, p_lane);
        -- guard:why_rate
        return case when v_next > p_now then format('%s may start (%s); the next may start in %s, at %s', coalesce(v_own.key_rate, (
                select l.key_rate from pawl_data.lane_queue l where l.queue_id = p_queue.queue_id)),
            case when v_own.key_rate is not null then format('%s has set this rate', v_own.set_by) else format('key_rate of workflow %s', p_queue.name) end,
            pawl._ago(v_next - p_now), to_char(v_next, 'YYYY-MM-DD HH24:MI:SS')) end;
    end if;
    select t.claimed_at, w.name, t.run_id into v_oldest
    from (
        select h.run_id, h.task_no from pawl_data.lane_hold h where h.queue_id = p_queue.queue_id and h.lane = p_lane limit 1000
    ) h
    join pawl_data.task t on t.run_id = h.run_id and t.task_no = h.task_no
    left join pawl_data.worker w on w.session_id = t.session_id
    order by t.claimed_at
    limit 1;
    return format('%s of %s are held (%s)%s', v_held, v_limit,
        case when v_own.key_limit is not null then format('%s has set this limit', v_own.set_by) else format('key_limit of workflow %s', p_queue.name) end,
        pawl._oldest_text(v_oldest.run_id, v_oldest.name, p_now - v_oldest.claimed_at));
end
$$;
comment on function pawl._why_lane_shut(pawl_data.queue, uuid, timestamptz) is 'why no claim takes a task of a lane, or null';

-- The same in a word, for lists of runs, which show many.
create or replace function pawl._lane_reason(p_queue int, p_lane uuid)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    -- guard:lane_reason
    return case
        when exists (select from pawl_data.lane_setting s where s.queue_id = p_queue and s.lane = p_lane and s.paused_at is not null) then 'paused'
        when exists (select from pawl_data.lane l where l.queue_id = p_queue and l.lane = p_lane and l.state = 'f') then 'limit' end;
end
$$;
comment on function pawl._lane_reason(int, uuid) is 'why no claim takes a task of a lane, in a word, or null';

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
    limit_key text, tenant text, waiting bigint, held bigint, key_limit int, key_rate text, key_burst int, weight int, oldest_waiting interval, paused boolean,
    reason text, next_start timestamptz, set_at timestamptz, set_by text, set_why text, next_cursor uuid)
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
    v_tenant text := coalesce(pawl._bound_tenant('list_lanes'), only_tenant);
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
           coalesce(s.key_limit, q.key_limit), coalesce(s.key_rate, q.key_rate),
           case when s.key_rate is not null then coalesce(s.key_burst, 1) when q.key_rate is not null then coalesce(q.key_burst, 1) end,
           coalesce(s.weight, 1), v_now - f.due_at, s.paused_at is not null, pawl._why_lane_shut(v_queue, u.lane, v_now),
           nullif(greatest(pawl._next_start(v_queue.queue_id, u.lane), v_now), v_now), s.set_at, s.set_by, s.set_why, u.lane
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
'Lanes of a workflow: the runs with one tenant and limit_key (null: the runs of the tenant without one), if a run waits or has waited in the last hour, or an operator has set something. waiting and held are counted up to 10,001. key_limit, key_rate and key_burst are those that count for the lane. oldest_waiting is of the run that is next. reason says why workers get no run of the lane: a pause, the limit, with the oldest holder, or the rate. next_start is when the rate lets the next run start, if that is later than now. set_at, set_by and set_why are of what set_lane() has set. only_key shows one lane, of only_tenant or the tenant ''''. Pass next_cursor of the last row as cursor to go on.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW002 unknown workflow.
Limits: 1,000 rows, 10,001 tasks of each counted.';
