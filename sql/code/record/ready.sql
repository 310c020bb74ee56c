-- SPDX-License-Identifier: Apache-2.0
-- From waiting to ready: which place a task takes, and the pause of a run whose code no longer matches its records.

-- Makes a waiting task ready after something that its code should see. A held or paused task is marked as woken.
create or replace function pawl._make_ready(p_task pawl_data.task, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.task t
    set recorded = true,
        woken = t.woken or t.place = 'h' or t.paused is not null,
        place = case when t.place = 'w' and t.paused is null then pawl._ready_place(t.crashes) else t.place end,
        due_at = case when t.place = 'w' and t.paused is null then p_now else t.due_at end,
        reason = case when t.place = 'w' and t.paused is null then null else t.reason end
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    if p_task.place = 'w' and p_task.paused is null then
        perform pawl._wake_one(p_task.queue_id, p_task.tenant, p_now);
    end if;
end
$$;
comment on function pawl._make_ready(pawl_data.task, timestamptz) is 'makes a waiting task ready, or marks a held one as woken';

-- The same for many tasks, which the caller has locked: wakes a worker for each queue.
create or replace function pawl._make_ready(p_runs uuid[], p_tasks int[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_queue record;
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
    -- By their places: a join that is planned while the table is empty would read all of it.
    v_tids tid[] := array(
        select t.ctid
        from unnest(p_runs, p_tasks) i (run_id, task_no)
        cross join lateral (select t.ctid from pawl_data.task t where t.run_id = i.run_id and t.task_no = i.task_no offset 0) t);
begin
    for v_queue in
        with ready as (
            update pawl_data.task t
            set recorded = true,
                woken = t.woken or t.place = 'h' or t.paused is not null,
                place = case when t.place = 'w' and t.paused is null then pawl._ready_place(t.crashes) else t.place end,
                due_at = case when t.place = 'w' and t.paused is null then p_now else t.due_at end,
                reason = case when t.place = 'w' and t.paused is null then null else t.reason end
            where t.ctid = any (v_tids)
            returning t.queue_id, case when v_bound then t.tenant else '' end as tenant, t.place in ('r', 's') as is_ready
        )
        select r.queue_id, r.tenant from ready r where r.is_ready group by r.queue_id, r.tenant
    loop
        perform pawl._wake_one(v_queue.queue_id, v_queue.tenant, p_now);
    end loop;
end
$$;
comment on function pawl._make_ready(uuid[], int[], timestamptz) is 'makes waiting tasks ready, or marks held ones as woken';

create or replace function pawl._ready_place(p_crashes int)
returns "char"
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_crashes > 0 and p_crashes >= (select s.suspect_at from pawl_data.setting s where s.only_row) then
        return 's';
    end if;
    return 'r';
end
$$;
comment on function pawl._ready_place(int) is 'where a due task stands: among the ready ones, or among the suspects';

-- Pauses a run whose code has changed since its records: it asks for one kind of step where another is recorded.
create or replace function pawl._pause_for_drift(p_task pawl_data.task, p_now timestamptz, p_name text, p_recorded text, p_asked text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:drift_leaves_lane
    if p_task.lane is not null then
        perform pawl._leave_lane(p_task, p_now, false);
    end if;
    update pawl_data.task t
    set place = 'w', session_id = null, request = null, started = false, fence = t.fence + 1, due_at = 'infinity',
        reason = 'drift', recorded = true, woken = true,
        paused = json_build_object('at', p_now, 'by', 'pawl', 'why',
            format('drift: step %s is recorded as %s, the code asks for %s', p_name, p_recorded, p_asked))
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    perform pawl._audit(p_task.run_id, p_task.task_no, p_task.kept, p_now, 'drift',
        json_build_object('step', p_name, 'recorded', p_recorded, 'asked', p_asked));
end
$$;
comment on function pawl._pause_for_drift(pawl_data.task, timestamptz, text, text, text) is 'pauses a run whose code no longer fits its records';

-- Makes waiting tasks that are due, locked by the caller, ready, and wakes a worker for each queue.
create or replace function pawl._make_ready(p_tids tid[], p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_count int := 0;
    v_due record;
    -- If no role is bound to a tenant, one call for each queue is enough.
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
begin
    for v_due in
        with due as (
            update pawl_data.task t
            set place = pawl._ready_place(t.crashes), due_at = p_now, reason = null
            -- No other condition: with place = 'w' the planner may choose the index of all waiting tasks.
            where t.ctid = any (p_tids)
            returning t.queue_id, case when v_bound then t.tenant else '' end as tenant
        )
        select d.queue_id, d.tenant, count(*)::int as n from due d group by d.queue_id, d.tenant
    loop
        v_count := v_count + v_due.n;
        perform pawl._wake_one(v_due.queue_id, v_due.tenant, p_now);
    end loop;
    return v_count;
end
$$;
comment on function pawl._make_ready(tid[], timestamptz) is 'makes waiting tasks ready';
