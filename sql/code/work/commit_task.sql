-- SPDX-License-Identifier: Apache-2.0
-- Items of the task of a flow, which a commit applies.

-- An item that ends or interrupts the claim of a flow's task.
create or replace function pawl._commit_task(
    p_run pawl_data.task, p_task pawl_data.task, p_now timestamptz, p_kind text, p_name text, p_payload text, p_option json,
    out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_error json;
    v_failure record;
begin
    answer := 'ok';
    if p_run.ending ->> 'status' = 'CANCELLED' or p_run.ending is not null and p_kind not in ('complete', 'fail') then
        -- The run was cancelled, or it is ending and this item records nothing: remove the task.
        if p_run.ending ->> 'status' = 'CANCELLED' then
            answer := 'cancelled';
            reason := p_run.ending ->> 'why';
        end if;
        perform pawl._drop_tasks(p_run, true, p_now, p_task.task_no);
        perform pawl._let_end(p_run, p_now);
        return;
    end if;
    if p_kind = 'complete' then
        if json_array_length(p_option -> 'unused') > 0 then
            perform pawl._audit(p_task.run_id, p_task.task_no, p_task.kept, p_now, 'unused_records', p_option -> 'unused');
        end if;
        perform pawl._finish_task(p_run, p_task.task_no, 's', coalesce(p_payload, 'null')::json, null, p_now, p_task.execution,
            p_task.fence, p_task.started_at);
        return;
    end if;
    if p_kind <> 'fail' then
        select c.answer, c.reason, c.value into answer, reason, value
        from pawl._commit_close(p_task, p_now, p_kind, p_name, p_payload, p_option) c;
        return;
    end if;
    v_error := coalesce(p_payload, '{}')::json;
    if not coalesce((p_option ->> 'final')::boolean, false) and p_run.ending is null then
        select f.* into v_failure from pawl._count_failure(p_task, '', v_error, p_option, p_now) f;
        if not v_failure.final then
            perform pawl._let_go(p_task, p_now, v_failure.due, 'retry');
            value := json_build_object('final', false, 'failures', v_failure.n, 'delay_ms',
                (1000 * date_part('epoch', v_failure.due - p_now))::bigint);
            return;
        end if;
    end if;
    perform pawl._finish_task(p_run, p_task.task_no, 'e', null, v_error, p_now, p_task.execution, p_task.fence, p_task.started_at);
    value := json_build_object('final', true);
end
$$;
comment on function pawl._commit_task(pawl_data.task, pawl_data.task, timestamptz, text, text, text, json) is 'commits an item that releases a flow''s task';

-- Returns whether a run can have, or have had, a task of this number. Its workflow then has a step for it, whose elements are tasks if it
-- is a map.
create or replace function pawl._has_task(p_run uuid, p_task int)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (
        select
        from pawl_data.queue q
        join pawl_data.flow_step s on s.workflow_id = q.workflow_id
        where q.queue_id = coalesce((select t.queue_id from pawl_data.task t where t.run_id = p_run and t.task_no = 0),
                                    (pawl._last_run(p_run)).queue_id)
          and s.step_no = pawl._step_of(p_task) and (s.map_from is null) = (pawl._element_of(p_task) = 0));
end
$$;
comment on function pawl._has_task(uuid, int) is 'whether a run can have had a task';

-- The row of a flow's task is gone while its run lives: its claim recorded it, or lost it.
create or replace function pawl._missing_task(
    p_run uuid, p_task int, p_fence int, p_kind text, p_name text, out answer text, out reason text, out value json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set jit to off
as $$
begin
    select json_build_object('state', pawl._state_name(s.state), 'output', s.output, 'error', s.error) into value
    from (
        select s.* from pawl_data.step s where s.run_id = p_run and s.task_no = p_task
        union all
        select k.* from pawl_data.step_kept k where k.run_id = p_run and k.task_no = p_task
    ) s
    where strpos(s.name, '#') = 0 and s.fence = p_fence and s.state in ('s', 'e')
    limit 1;
    if found and p_kind not in ('complete', 'fail') then
        -- Waits and retries leave no record if the task ends first.
        -- guard:task_repeated
        value := pawl._recorded(p_run, p_task, p_name);
        if value is not null or p_kind not in ('step', 'begin', 'step_error', 'confirm') then
            answer := 'already';
            return;
        end if;
    elsif found then
        answer := 'already';
        return;
    end if;
    value := null;
    if not pawl._has_task(p_run, p_task) then
        -- 1. A client commits for a task number that no step has. Without the test the answer would be lease_lost, and the client would look
        -- for a lease that it never had.
        -- guard:unknown_task
        answer := 'refused';
        reason := format('the run has no task %s', p_task);
        return;
    end if;
    answer := 'lease_lost';
    reason := 'the task was taken back, or has ended';
end
$$;
comment on function pawl._missing_task(uuid, int, int, text, text) is 'answers for an item whose flow task is gone';
