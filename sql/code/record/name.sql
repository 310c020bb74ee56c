-- SPDX-License-Identifier: Apache-2.0
-- Words for the letters of states and kinds, numbers of tasks, and names of tasks and undos as they are shown and recorded.

-- Functions of one expression with a parsed body. The planner puts the expression in place of the call, so that it costs nothing and an
-- index can be used. The names in it were resolved when the function was made. So no search_path is set, which would forbid that.

create or replace function pawl._state_name(p_state "char")
returns text
language sql
immutable
return case p_state when 's' then 'SUCCESS' when 'e' then 'ERROR' when 'c' then 'CANCELLED' when 'r' then 'RUNNING' when 'k' then 'SKIPPED' end;
comment on function pawl._state_name("char") is 'the word for the status of a run that has ended, or for the state of a step';

create or replace function pawl._status_code(p_status text)
returns "char"
language sql
immutable
return case p_status when 'SUCCESS' then 's'::"char" when 'ERROR' then 'e' when 'CANCELLED' then 'c' end;
comment on function pawl._status_code(text) is 'the letter for the status of a run that has ended; null for any other word';

create or replace function pawl._kind_name(p_kind "char")
returns text
language sql
immutable
return case p_kind when 's' then 'step' when 'z' then 'sleep' when 'e' then 'event' when 'g' then 'signal' when 'c' then 'child' when 'a' then 'approval' end;
comment on function pawl._kind_name("char") is 'the word for the kind of a step';

create or replace function pawl._kind_code(p_kind text)
returns "char"
language sql
immutable
return case p_kind when 'step' then 's'::"char" when 'sleep' then 'z' when 'event' then 'e' when 'signal' then 'g' when 'child' then 'c' when 'approval' then 'a' end;
comment on function pawl._kind_code(text) is 'the letter for the kind of a step';

-- A step of a flow has numbers for a million tasks less one: the step itself, or elements of a map step from 1 on.
create or replace function pawl._task_no(p_step int, p_element int default 0)
returns int
language sql
immutable
return p_step * 1000000 + p_element;
comment on function pawl._task_no(int, int) is 'the number of the task of a flow''s step, or of an element of a map step';

create or replace function pawl._step_of(p_task int)
returns int
language sql
immutable
return p_task / 1000000;
comment on function pawl._step_of(int) is 'the number of the step whose task it is; 0 for the run itself';

create or replace function pawl._element_of(p_task int)
returns int
language sql
immutable
return p_task % 1000000;
comment on function pawl._element_of(int) is 'which element of a map step the task is for, from 1 on; 0 for the step itself';

-- A record of a task of a flow as the rest of the engine names steps: NAME#n.
create or replace function pawl._task_name(p_name text, p_task int)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_task = 0 or strpos(p_name, '#') > 0 then p_name
                else p_name || '#' || greatest(pawl._element_of(p_task), 1) end;
end
$$;
comment on function pawl._task_name(text, int) is 'the name of a record of a flow''s task, with a number';

-- Returns the name of an undo; its record has rollback: ahead of it. Steps inside tasks may have the same names, so theirs begin with the
-- task: STEP/n/NAME#n. p_queue is the queue of the run or of the task.
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
        select s.name || '/' || greatest(pawl._element_of(p_task), 1) || '/' || p_name
        from pawl_data.flow_step s
        where s.workflow_id = (select q.workflow_id from pawl_data.queue q where q.queue_id = p_queue)
          and s.step_no = pawl._step_of(p_task));
end
$$;
comment on function pawl._undo_name(int, text, int) is 'what the undo of a step is called, without rollback:';
