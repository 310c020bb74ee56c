-- SPDX-License-Identifier: Apache-2.0
-- Locks of the rows of a flow: its run first, then its tasks, in one order for all callers.

-- Locks task 0 of a run of a flow and the flows that the run is a step of, because its end may end them. Never waits: returns false if
-- another transaction holds one of them.
create or replace function pawl._lock_flow(p_run uuid)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_task pawl_data.task;
    v_id uuid := p_run;
    v_no int := 0;
begin
    loop
        -- guard:flow_lock
        select t.* into v_task from pawl_data.task t where t.run_id = v_id and t.task_no = v_no for update skip locked;
        if not found then
            -- A parent may have ended; the run itself has not, or there would be no task.
            return v_id <> p_run and not exists (select from pawl_data.task t where t.run_id = v_id and t.task_no = v_no);
        end if;
        exit when v_task.place <> 'o' or v_task.parent_id is null or v_task.parent_step is null;
        v_id := v_task.parent_id;
        v_no := case when strpos(v_task.parent_step, '#') > 0 then coalesce(v_task.parent_task, 0) else 0 end;
    end loop;
    return true;
end
$$;
comment on function pawl._lock_flow(uuid) is 'locks a run of a flow and the flows above it, unless another transaction holds one of them';

-- Locks every task of a run of a flow. Returns false if another transaction holds one of them.
create or replace function pawl._lock_tasks(p_run uuid)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_count bigint;
begin
    select count(*) into v_count
    from (select from pawl_data.task t where t.run_id = p_run and t.task_no > 0 order by t.task_no for update skip locked) l;
    -- guard:flow_lock_tasks
    return v_count = (select count(*) from pawl_data.task t where t.run_id = p_run and t.task_no > 0);
end
$$;
comment on function pawl._lock_tasks(uuid) is 'locks the tasks of a run of a flow, unless another transaction holds one of them';
