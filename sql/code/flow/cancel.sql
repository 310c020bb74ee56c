-- SPDX-License-Identifier: Apache-2.0
-- Cancels one run, and its tasks if it is a flow.

-- If a worker holds the run, or a task of its flow, the worker is notified and has a grace period. Any other run ends at once, or starts
-- its rollback.
create or replace function pawl._cancel_task(p_task pawl_data.task, p_now timestamptz, p_by text, p_why text, p_rollback boolean)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_task.rolling_back or p_task.ending is not null then
        -- 1. A run fails, and is ending or rolled back. 2. An operator cancels it. The run was not cancelled, and results of its tasks are
        -- recorded until it has ended. Without this test the answer would be already, and the operator would take the run for cancelled.
        -- guard:cancel_of_failing
        return case when p_task.ending ->> 'status' = 'ERROR' then 'ERROR' else 'already' end;
    end if;
    if p_task.place = 'o' then
        if not (pawl._lock_flow(p_task.run_id) and pawl._lock_tasks(p_task.run_id)) then
            return 'busy';
        end if;
        perform pawl._begin_ending(p_task, 'c', json_build_object('code', 'cancelled', 'message', coalesce(p_why, 'cancelled')),
            p_rollback, p_by, p_now);
    elsif p_task.place = 'h' then
        -- guard:cancel_marks
        update pawl_data.task t
        set ending = json_build_object('status', 'CANCELLED', 'at', p_now, 'by', p_by, 'why', p_why, 'rollback', p_rollback)
        where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
        perform pawl._start_grace(p_task, p_now);
    elsif pawl._end_or_roll_back(p_task, 'c', json_build_object('code', 'cancelled', 'message', coalesce(p_why, 'cancelled')),
              p_rollback, p_now) = 'busy' then
        return 'busy';
    end if;
    perform pawl._audit(p_task.run_id, 0, pawl._is_kept(p_task), p_now, 'cancel', json_build_object('why', p_why, 'rollback', p_rollback), p_by);
    return 'ok';
end
$$;
comment on function pawl._cancel_task(pawl_data.task, timestamptz, text, text, boolean) is 'cancels a run whose row is locked';
