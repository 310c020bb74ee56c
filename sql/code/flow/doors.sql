-- SPDX-License-Identifier: Apache-2.0
-- The doors of this room: the only functions of flows that lower rooms call. They are not called for a run without a flow.

-- Refuses to trigger a flow without steps. (As a step of another flow, it ends at once.)
create or replace function pawl._check_flow(p_workflow int)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if not exists (select from pawl_data.flow_step s where s.workflow_id = p_workflow and s.step_no > 0) then
        -- guard:flow_no_steps
        perform pawl._raise('PW003', format('flow "%s" has no steps', (select w.name from pawl_data.workflow w where w.workflow_id = p_workflow)),
            'Add them: select pawl.add_step(flow, step).');
    end if;
end
$$;
comment on function pawl._check_flow(int) is 'refuses to trigger a flow without steps';

-- Whether live workers handle the steps that a run of the flow starts with, for this tenant.
create or replace function pawl._first_handled(p_workflow int, p_tenant text, p_now timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return not exists (
        select from pawl_data.flow_step s
        where s.workflow_id = p_workflow and s.deps = '{}' and s.queue_id is not null
          and not pawl._is_handled(s.queue_id, p_tenant, p_now));
end
$$;
comment on function pawl._first_handled(int, text, timestamptz) is 'whether the first steps of a flow have live workers';

-- Creates the first tasks of runs that were just triggered.
create or replace function pawl._open_flows(p_runs uuid[], p_workflow int, p_now timestamptz, p_delay interval)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_runs uuid[];
    v_steps int[];
begin
    if not (select w.frozen from pawl_data.workflow w where w.workflow_id = p_workflow) then
        perform pawl._freeze_flow(p_workflow);
        -- 1. A triggers the flow for the first time: it inserts the run, and the flow has no undo yet. 2. B adds a step with an undo and
        -- commits. 3. A freezes the flow and starts its steps. Without this update a failure of the run would not undo B's step.
        -- guard:undo_of_frozen
        update pawl_data.task t
        set undo = true
        where t.run_id = any (p_runs) and t.task_no = 0 and not t.undo
          and exists (select from pawl_data.flow_step s where s.workflow_id = p_workflow and s.undo is not null);
    end if;
    if not exists (select from pawl_data.flow_step s where s.workflow_id = p_workflow and s.step_no > 0) then
        perform pawl._end_flows(p_runs, p_now);
        return;
    end if;
    select array_agg(r), array_agg(s.step_no) into v_runs, v_steps
    from unnest(p_runs) r
    cross join pawl_data.flow_step s
    where s.workflow_id = p_workflow and s.deps = '{}' and s.step_no > 0;
    select array_agg(s.run_id), array_agg(s.step_no) into v_runs, v_steps
    from pawl._start_steps(v_runs, v_steps, p_now, p_delay) s;
    if v_runs is not null then
        perform pawl._advance(v_runs, array(select pawl._task_no(s) from unnest(v_steps) s), p_now);
    end if;
end
$$;
comment on function pawl._open_flows(uuid[], int, timestamptz, interval) is 'starts the first steps of new runs of a flow';

-- Ends a task: writes its record, then continues or ends the run. The caller has locked the rows of the task and of the run.
create or replace function pawl._finish_task(
    p_run pawl_data.task, p_task int, p_state "char", p_output json, p_error json, p_now timestamptz, p_attempt int default 1,
    p_fence int default 0, p_started timestamptz default null, p_source uuid default null)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_step pawl_data.flow_step := pawl._flow_step(p_run, pawl._step_of(p_task));
    v_undos boolean;
begin
    delete from pawl_data.task t where t.run_id = p_run.run_id and t.task_no = p_task returning t.undo into v_undos;
    if v_undos then
        -- guard:task_undos
        perform pawl._note_undos(p_run);
    end if;
    -- Deletes the waits that the task has left open: a signal or an event must not find them.
    delete from pawl_data.wait w where w.run_id = p_run.run_id and w.task_no = p_task;
    -- A task that fails because the run has reached its time limit is not skipped, nor is one of a run that is ending.
    -- guard:flow_failed_skips
    if p_state = 'e' and p_run.ending is null and v_step.failed <> 'fail'
       -- guard:flow_failed_timeout
       and (p_run.attached and pawl._run_timeout(p_run.run_id, p_now) = 0) is not true then
        p_state := 'k';
        p_error := pawl._skipped_failure(v_step, p_task, p_error);
    end if;
    perform pawl._record_task(p_run, p_task, v_step.name, p_state, p_output, p_error, v_step.undo, p_attempt, p_fence, p_started,
        p_now, p_source);
    if p_run.ending is not null then
        perform pawl._let_end(p_run, p_now);
    elsif p_state = 'e' then
        -- A task may fail because the run has reached its time limit. Then the run gets the error that the engine itself would give it.
        perform pawl._begin_ending(p_run, 'e', case
            when p_run.attached and pawl._run_timeout(p_run.run_id, p_now) = 0 then
                json_build_object('code', 'timeout', 'message', 'the run has reached its time limit')
            else json_build_object('code', 'step_failed', 'message',
                format('step %s failed: %s', pawl._task_name(v_step.name, p_task), pawl._error_text(p_error)),
                'step', pawl._task_name(v_step.name, p_task), 'error', p_error) end, true, null, p_now);
    else
        perform pawl._advance(array[p_run.run_id], array[p_task], p_now);
    end if;
end
$$;
comment on function pawl._finish_task(pawl_data.task, int, "char", json, json, timestamptz, int, int, timestamptz, uuid) is 'records the result of a task of a flow and lets the run continue';
