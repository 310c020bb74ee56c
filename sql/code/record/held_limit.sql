-- SPDX-License-Identifier: Apache-2.0
-- Limits of whole workflows: how many tasks of their queues may be held at a time. What is held is counted in lane_hold, under the lock of the
-- limit: an end that has not been committed counts as held.

-- The limit of a queue, and the queues that share it. Null: no limit.
create or replace function pawl._limit_of(p_queue int, out limit_no int, out most int, out queues int[])
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    select l.limit_no, l.most into limit_no, most
    from pawl_data.lane_queue q join pawl_data.held_limit l on l.limit_no = q.limit_no
    where q.queue_id = p_queue;
    if limit_no is not null then
        queues := array(select q.queue_id from pawl_data.lane_queue q where q.limit_no = _limit_of.limit_no);
    end if;
end
$$;
comment on function pawl._limit_of(int) is 'the limit of all tasks of a queue';

-- How many tasks of these queues are held, up to p_most.
create or replace function pawl._count_held(p_queues int[], p_most int)
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
        from (
            select from unnest(p_queues) q (queue_id) cross join lateral (select from pawl_data.lane_hold h where h.queue_id = q.queue_id) h limit p_most
        ) c);
end
$$;
comment on function pawl._count_held(int[], int) is 'how many tasks of queues are held';

-- Whether as many tasks are held as the limit of the queue allows, as far as can be told without a lock.
create or replace function pawl._limit_full(p_queue int)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_limit record;
begin
    select l.* into v_limit from pawl._limit_of(p_queue) l;
    return v_limit.limit_no is not null and pawl._count_held(v_limit.queues, v_limit.most) >= v_limit.most;
end
$$;
comment on function pawl._limit_full(int) is 'whether the limit of a queue is reached';

-- Locks the limit of a queue, and returns how many tasks a claim may take there besides p_had, which it has picked in other queues. Null: any
-- number. 0: none, or another claim has the lock: it is tried for a few milliseconds only.
create or replace function pawl._limit_room(p_queue int, p_had tid[])
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_started timestamptz := clock_timestamp();
    v_limit record;
    v_most int;
begin
    select l.* into v_limit from pawl._limit_of(p_queue) l;
    if v_limit.limit_no is null then
        return null;
    end if;
    for v_try in 1..8 loop
        -- A full limit costs a claim this look, and no lock.
        if pawl._count_held(v_limit.queues, v_limit.most) >= v_limit.most then
            return 0;
        end if;
        -- 1. A and B claim of two workflows with one limit, which leaves room for one task. 2. Both count what is held. Without the lock both would
        -- take one.
        -- guard:limit_lock
        select l.most into v_most from pawl_data.held_limit l where l.limit_no = v_limit.limit_no for update skip locked;
        if found then
            -- In a later statement: it sees what the claim before has taken. A claim takes from two queues before any of that is counted.
            -- guard:limit_counts
            return greatest(v_most - pawl._count_held(v_limit.queues, v_most) - (
                -- guard:limit_had
                select count(*)::int from pawl_data.task t where t.ctid = any (p_had) and t.queue_id = any (v_limit.queues)), 0);
        end if;
        exit when clock_timestamp() > v_started + interval '4 ms';
        perform pg_sleep(0.0005);
    end loop;
    return 0;
end
$$;
comment on function pawl._limit_room(int, tid[]) is 'locks the limit of a queue, and says how many of its tasks a claim may take';

-- A held task of the queue leaves: wakes a worker for each queue with the same limit in which tasks wait.
create or replace function pawl._wake_limit(p_queue int, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_bound boolean;
    v_queues int[] := (pawl._limit_of(p_queue)).queues;
begin
    if v_queues is null then
        return;
    end if;
    v_bound := (select s.tenants_bound from pawl_data.setting s where s.only_row);
    -- guard:limit_wakes
    perform pawl._wake_one(w.queue_id, case when v_bound then w.tenant else '' end, p_now)
    from unnest(v_queues) q (queue_id)
    cross join lateral (
        select w.queue_id, t.tenant
        from (select w.queue_id, w.run_id, w.task_no from pawl_data.lane_task w where w.queue_id = q.queue_id limit 1) w
        cross join lateral (select t.tenant from pawl_data.task t where t.run_id = w.run_id and t.task_no = w.task_no) t
    ) w;
end
$$;
comment on function pawl._wake_limit(int, timestamptz) is 'wakes workers for queues whose limit may have room';
