-- SPDX-License-Identifier: Apache-2.0
-- How a run of a flow ends: with its last step, by a failure, by a cancel, or by force.

-- Ends runs of flows that have no step left. The caller has locked their task 0.
create or replace function pawl._end_flows(p_runs uuid[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_task pawl_data.task;
    v_ended uuid[];
    v_ids uuid[];
    v_outputs json[];
    v_started timestamptz[];
    v_few int := pawl._few_deps();
    v_error json;
begin
    -- First, runs whose outputs together are over the limit: they fail before these outputs are gathered into one value.
    for v_task in
        select t.*
        from unnest(p_runs) r
        cross join lateral (select t.* from pawl_data.task t where t.run_id = r and t.task_no = 0 offset 0) t
        cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = t.queue_id offset 0) q
        cross join lateral (
            select from pawl_data.flow_step s
            where s.workflow_id = q.workflow_id and s.step_no = 0 and (s.heavy_deps <> '{}' or cardinality(s.deps) > v_few) offset 0) s
    loop
        v_error := pawl._too_much(v_task, pawl._flow_step(v_task, 0));
        if v_error is not null then
            perform pawl._begin_ending(v_task, 'e', v_error, true, null, p_now);
            p_runs := array_remove(p_runs, v_task.run_id);
        end if;
    end loop;
    perform pawl._need_partitions(p_runs, array['run']);
    select array_agg(d.run_id), array_agg(d.outputs), array_agg(d.started_at) into v_ids, v_outputs, v_started
    from pawl._dep_outputs(p_runs, array(select 0 from unnest(p_runs))) d;
    with gone as (
        delete from pawl_data.task t
        using unnest(v_ids, v_outputs, v_started) e (run_id, output, first_at)
        cross join lateral (select h.ctid from pawl_data.task h where h.run_id = e.run_id and h.task_no = 0 offset 0) h
        where t.ctid = h.ctid
          -- The fast path, as in a plain commit. The loop below ends the remaining runs.
          and not (t.kept or t.attached or t.paused is not null or t.parent_id is not null or t.round > 1)
          and t.triggered_at > p_now - interval '24 hours'
        returning t.*, e.output, e.first_at
    ), ended as (
        insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, started_at, ended_at,
                              rolled_back, input_apart, tenant, limit_key, key, input, metadata, output)
        select g.run_id, g.round, 's', g.priority, g.queue_id, g.fence, 1, g.triggered_at,
               g.first_at, p_now, false, g.input_apart,
               g.tenant, g.limit_key, g.key, g.input, g.metadata, g.output
        from gone g
        returning run_id
    )
    select array_agg(e.run_id) into v_ended from ended e;
    for v_task in
        select t.* from pawl_data.task t
        where t.run_id = any (p_runs) and t.task_no = 0 and t.run_id <> all (coalesce(v_ended, '{}'))
    loop
        v_task.execution := 1;
        v_task.started_at := v_started[array_position(v_ids, v_task.run_id)];
        perform pawl._end_run(v_task, 's', v_outputs[array_position(v_ids, v_task.run_id)], null, p_now);
    end loop;
end
$$;
comment on function pawl._end_flows(uuid[], timestamptz) is 'ends runs of flows that are done';

-- Marks a run of a flow as having undos when a task ends whose own steps had undos. Until then only the task has the mark, because its
-- worker does not wait for other tasks of the run. The caller has locked task 0.
create or replace function pawl._note_undos(p_run pawl_data.task)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.task t set undo = true where t.run_id = p_run.run_id and t.task_no = 0 and not t.undo;
end
$$;
comment on function pawl._note_undos(pawl_data.task) is 'a run of a flow has something to undo';

-- Deletes tasks of a run: tasks that no worker holds or, with p_held, all of them. A deleted task that had started and has an undo leaves a
-- record, because its effects are unknown.
create or replace function pawl._drop_tasks(p_run pawl_data.task, p_held boolean, p_now timestamptz, p_only int default null)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_gone record;
begin
    for v_gone in
        with gone as (
            delete from pawl_data.task t
            where t.ctid = any (array(
                select d.ctid from pawl_data.task d
                where d.run_id = p_run.run_id and d.task_no > 0 and (p_only is null or d.task_no = p_only)
                  and (p_held or d.place <> 'h')
                for update skip locked))
            returning t.task_no, t.execution, t.fence, t.started_at, t.undo as has_undos
        )
        select g.*, s.name, s.undo
        from gone g
        join pawl_data.queue q on q.queue_id = p_run.queue_id
        join pawl_data.flow_step s on s.workflow_id = q.workflow_id and s.step_no = pawl._step_of(g.task_no)
    loop
        delete from pawl_data.wait w where w.run_id = p_run.run_id and w.task_no = v_gone.task_no;
        if v_gone.has_undos then
            -- guard:lost_task_undos
            perform pawl._note_undos(p_run);
        end if;
        if v_gone.undo is not null and v_gone.execution > 0 then
            perform pawl._record_task(p_run, v_gone.task_no, v_gone.name, 'r', null, null, v_gone.undo, v_gone.execution,
                v_gone.fence, v_gone.started_at, p_now);
        end if;
    end loop;
end
$$;
comment on function pawl._drop_tasks(pawl_data.task, boolean, timestamptz, int) is 'takes away tasks of a run of a flow';

-- When a run ends, leaves a record for each of its steps that has an undo and is a child run that has not ended. The effects of the child
-- so far are unknown, and so are its effects until the cancel reaches it.
create or replace function pawl._leave_children(p_run pawl_data.task, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if not p_run.undo then
        return;
    end if;
    perform pawl._record_task(p_run, w.task_no, s.name, 'r', null, null, s.undo, 1, 0, w.created_at, p_now, w.child_id)
    from pawl_data.wait w
    join pawl_data.queue q on q.queue_id = p_run.queue_id
    join pawl_data.flow_step s on s.workflow_id = q.workflow_id and s.step_no = pawl._step_of(w.task_no)
    -- A child that a task has started has # in its name: it is a step of that task, not of the flow.
    where w.run_id = p_run.run_id and w.task_no > 0 and w.kind = 'c' and strpos(w.name, '#') = 0 and s.undo is not null;
end
$$;
comment on function pawl._leave_children(pawl_data.task, timestamptz) is 'records the children of a flow that it ends without';

-- Begins to end a run with this status (ERROR or CANCELLED): no new step starts, and workers that hold a task are notified. The run ends
-- when no task is held, at the latest after the grace period. The caller has locked task 0.
create or replace function pawl._begin_ending(
    p_run pawl_data.task, p_status "char", p_error json, p_rollback boolean, p_by text, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_ending json := json_build_object('status', pawl._state_name(p_status), 'error', p_error, 'at', p_now, 'by', p_by,
        'why', p_error ->> 'message', 'rollback', p_rollback);
begin
    if p_run.ending is not null then
        return;
    end if;
    update pawl_data.task t set ending = v_ending where t.run_id = p_run.run_id and t.task_no = 0;
    p_run.ending := v_ending;
    -- A task cannot be marked now if a commit of its worker is in progress. That commit notifies the worker.
    update pawl_data.task t set ending = v_ending
    where t.ctid = any (array(
        select d.ctid from pawl_data.task d
        where d.run_id = p_run.run_id and d.task_no > 0 and d.place = 'h'
        for update skip locked));
    perform pawl._start_grace(p_run, p_now);
    perform pawl._cancel_children(p_run, p_now);
    perform pawl._let_end(p_run, p_now);
end
$$;
comment on function pawl._begin_ending(pawl_data.task, "char", json, boolean, text, timestamptz) is 'lets a run of a flow end by failure or cancel';

-- Ends a run that is ending, or starts its rollback, if no worker holds a task of it any more.
create or replace function pawl._let_end(p_run pawl_data.task, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._drop_tasks(p_run, false, p_now);
    if exists (select from pawl_data.task t where t.run_id = p_run.run_id and t.task_no > 0) then
        return 'ok';
    end if;
    -- guard:child_undo
    perform pawl._leave_children(p_run, p_now);
    return pawl._end_or_roll_back(p_run, pawl._status_code(p_run.ending ->> 'status'), p_run.ending -> 'error',
        (p_run.ending ->> 'rollback')::boolean, p_now);
end
$$;
comment on function pawl._let_end(pawl_data.task, timestamptz) is 'ends a run of a flow once no task of it is held';

-- Deletes every task and ends the run, even if a worker holds a task: after the grace period, a time limit or a kill. Returns busy if
-- another transaction has locked a row of the flow.
create or replace function pawl._force_end(p_run pawl_data.task, p_status "char", p_error json, p_rollback boolean, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if not pawl._lock_flow(p_run.run_id) or not pawl._lock_tasks(p_run.run_id) then
        return 'busy';
    end if;
    perform pawl._cancel_children(p_run, p_now);
    perform pawl._drop_tasks(p_run, true, p_now);
    -- guard:child_undo_forced
    perform pawl._leave_children(p_run, p_now);
    return pawl._end_or_roll_back(p_run, p_status, p_error, p_rollback, p_now);
end
$$;
comment on function pawl._force_end(pawl_data.task, "char", json, boolean, timestamptz) is 'ends a run of a flow even if a worker holds a task of it';

-- Returns the text of an error, at most 200 characters, as a part of a sentence.
create or replace function pawl._error_text(p_error json)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return left(coalesce(case when json_typeof(p_error) = 'object'
                              then coalesce(p_error ->> 'message', p_error ->> 'code') end, p_error::text, 'no reason given'), 200);
end
$$;
comment on function pawl._error_text(json) is 'what an error says, in short';

