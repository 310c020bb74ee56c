-- SPDX-License-Identifier: Apache-2.0
-- Names of tasks and undos, as they are shown and recorded.

-- A record of a task of a flow as the rest of the engine names steps: NAME#n.
create or replace function pawl._task_name(p_name text, p_task int)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_task = 0 or strpos(p_name, '#') > 0 then p_name
                else p_name || '#' || greatest(p_task % 1000000, 1) end;
end
$$;
comment on function pawl._task_name(text, int) is 'the name of a record of a flow''s task, with a number';

-- What rollback: stands before in the name of the record of an undo. Steps inside of tasks may have the same names, so theirs
-- begin with the task: STEP/n/NAME#n. p_queue is the run's or the task's.
create or replace function pawl._undo_name(p_queue int, p_name text, p_task int)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_task = 0 or strpos(p_name, '#') = 0 then
        return pawl._task_name(p_name, p_task);
    end if;
    return (
        select s.name || '/' || greatest(p_task % 1000000, 1) || '/' || p_name
        from pawl_data.flow_step s
        where s.workflow_id = (select q.workflow_id from pawl_data.queue q where q.queue_id = p_queue)
          and s.step_no = p_task / 1000000);
end
$$;
comment on function pawl._undo_name(int, text, int) is 'what the undo of a step is called, without rollback:';
