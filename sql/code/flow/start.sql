-- SPDX-License-Identifier: Apache-2.0
-- How steps of a flow start: as a task, as a task for each element, as a child run, or not at all. As in advance.sql,
-- task 0 of the run is locked.

-- Starts steps whose dependencies are done. Returns the steps that are done at once: skipped steps, and map steps without elements.
create or replace function pawl._start_steps(p_runs uuid[], p_steps int[], p_now timestamptz, p_delay interval)
returns table (run_id uuid, step_no int)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
set plan_cache_mode to force_generic_plan
as $$
#variable_conflict use_column
declare
    v_few int := pawl._few_deps();
    v_queues int[];
    v_tenants text[];
    -- While no role is bound to a tenant, one call for each queue is enough.
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
    v_runs uuid[];
    v_steps int[];
begin
    with it as materialized (
        select t.run_id, t.priority as run_priority, t.round, t.kept, t.recorded, t.paused, t.triggered_at, t.tenant, t.limit_key, s.step_no,
               s.queue_id, s.priority, s.plain, s.heavy_deps <> '{}' or cardinality(s.deps) > v_few as much
        from unnest(p_runs, p_steps) i (run_id, step_no)
        cross join lateral (select t.* from pawl_data.task t where t.run_id = i.run_id and t.task_no = 0 offset 0) t
        cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = t.queue_id offset 0) q
        cross join lateral (select s.* from pawl_data.flow_step s where s.workflow_id = q.workflow_id and s.step_no = i.step_no offset 0) s
        where i.step_no > 0
    ), large as materialized (
        select b.run_id, b.step_no
        from pawl._dep_bytes(array(select i.run_id from it i where i.much), array(select i.step_no from it i where i.much)) b
        where b.bytes > pawl._gather_max()
    ), plain as materialized (
        select i.* from it i
        where i.plain
          -- guard:gather_many
          and not exists (select from large l where l.run_id = i.run_id and l.step_no = i.step_no)
    ), made as (
        -- In a later round a task may have records of an earlier one, so it takes recorded from its run.
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, round, fence, kept, recorded, reason, due_at,
                               triggered_at, tenant, limit_key, paused, woken)
        select i.run_id, pawl._task_no(i.step_no), i.queue_id,
               case when i.paused is not null or p_delay > interval '0' then 'w' else 'r' end,
               -- Function calls for each of many rows would be most of the cost, so the cases avoid them.
               coalesce(i.priority, i.run_priority), i.round, case when i.round = 1 then 0 else pawl._first_fence(i.round) end, i.kept, i.recorded,
               case when i.paused is not null then 'operator' when p_delay > interval '0' then 'delay' end,
               case when i.paused is not null then 'infinity' else coalesce(pawl._shift(p_now, p_delay), p_now) end,
               i.triggered_at, i.tenant, i.limit_key, case when i.paused is not null then pawl._paused_task(i.paused, p_now, p_delay) end,
               i.paused is not null and not coalesce(p_delay > interval '0', false)
        from plain i
    )
    select (select array_agg(w.queue_id order by w.queue_id, w.tenant)
            from (select distinct p.queue_id, case when v_bound then p.tenant else '' end as tenant from plain p) w),
           (select array_agg(w.tenant order by w.queue_id, w.tenant)
            from (select distinct p.queue_id, case when v_bound then p.tenant else '' end as tenant from plain p) w),
           array_agg(i.run_id order by i.run_id, i.step_no),
           array_agg(i.step_no order by i.run_id, i.step_no)
    into v_queues, v_tenants, v_runs, v_steps
    from it i
    where not exists (select from plain p where p.run_id = i.run_id and p.step_no = i.step_no);
    perform pawl._wake_one(w.queue_id, w.tenant, p_now) from unnest(v_queues, v_tenants) w (queue_id, tenant);
    for v_n in 1..coalesce(cardinality(v_runs), 0) loop
        if pawl._start_step(v_runs[v_n], v_steps[v_n], p_now, p_delay) then
            run_id := v_runs[v_n];
            step_no := v_steps[v_n];
            return next;
        end if;
    end loop;
end
$$;
comment on function pawl._start_steps(uuid[], int[], timestamptz, interval) is 'starts steps of flows';

-- Returns the pause of a task that is created while its run is paused. If the task has a delay, resume() finds its due time there.
create or replace function pawl._paused_task(p_paused json, p_now timestamptz, p_delay interval)
returns json
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_paused is null or not coalesce(p_delay > interval '0', false) then
        return p_paused;
    end if;
    return json_build_object('at', p_paused -> 'at', 'by', p_paused -> 'by', 'why', p_paused -> 'why', 'due', pawl._shift(p_now, p_delay),
        'reason', 'delay');
end
$$;
comment on function pawl._paused_task(json, timestamptz, interval) is 'the pause of a task, with when it was to start';

-- Returns the fence of a new task. 1. A worker holds a task, and the run ends without it. 2. A retry opens the next round, which creates
-- the same task again. 3. The worker commits late. If each round began with fence 0, the old claim could have the fence of a new one, and
-- the late commit would be accepted.
create or replace function pawl._first_fence(p_round int)
returns int
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:round_fence
    return (p_round - 1) * 1000000;
end
$$;
comment on function pawl._first_fence(int) is 'the fence of a new task of a flow';

-- Starts one step that is not plain. Returns true if the step is done at once.
create or replace function pawl._start_step(p_run uuid, p_step int, p_now timestamptz, p_delay interval)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl_data.task;
    v_step pawl_data.flow_step;
    v_input json;
    v_skip json;
    v_error json;
    v_items json[];
begin
    -- Read again: the start of another step may have failed the run, and ended it.
    select t.* into v_run from pawl_data.task t where t.run_id = p_run and t.task_no = 0;
    if not found or v_run.ending is not null then
        return false;
    end if;
    v_step := pawl._flow_step(v_run, p_step);
    v_skip := pawl._skipped_before(v_run, v_step);
    if v_skip is null then
        v_error := pawl._too_much(v_run, v_step);
    end if;
    if v_skip is null and v_error is null and (v_step.condition is not null or v_step.child_workflow_id is not null) then
        v_input := pawl._with_run(pawl._run_input(p_run),
            (select d.outputs from pawl._dep_outputs(array[p_run], array[p_step]) d));
        -- guard:flow_condition
        if v_step.condition is not null and not pawl._meets(v_step.condition, v_input) then
            if v_step.unmet = 'fail' then
                v_error := json_build_object('code', 'condition', 'message',
                    format('the condition of step %s is not met', v_step.name));
            else
                v_skip := json_build_object('code', 'skipped', 'message', 'its condition is not met', 'spreads', v_step.unmet = 'skip_all');
            end if;
        end if;
    end if;
    if v_skip is not null then
        perform pawl._record_task(v_run, pawl._task_no(p_step), v_step.name, 'k', null, v_skip, null, 1, 0, p_now, p_now);
        return true;
    end if;
    if v_error is null and v_step.map_from is not null then
        select m.items, m.error into v_items, v_error from pawl._map_items(v_run, v_step) m;
    end if;
    -- guard:flow_failed_start
    if v_error is not null and v_error ->> 'code' <> 'condition' and v_step.failed <> 'fail' then
        perform pawl._record_task(v_run, pawl._task_no(p_step), v_step.name, 'k', null,
            pawl._skipped_failure(v_step, pawl._task_no(p_step), v_error), null, 1, 0, p_now, p_now);
        return true;
    end if;
    if v_error is not null then
        perform pawl._record_task(v_run, pawl._task_no(p_step), v_step.name, 'e', null, v_error, null, 1, 0, p_now, p_now);
        perform pawl._begin_ending(v_run, 'e', v_error, true, null, p_now);
        return false;
    end if;
    if v_step.map_from is null then
        perform pawl._put_tasks(v_run, v_step, array[null::json], v_input, p_now, p_delay);
        return false;
    end if;
    return pawl._put_tasks(v_run, v_step, v_items, null, p_now, p_delay) = 0;
end
$$;
comment on function pawl._start_step(uuid, int, timestamptz, interval) is 'starts, skips or fails one step of a flow';

-- The error of the record of a task that failed and is skipped.
create or replace function pawl._skipped_failure(p_step pawl_data.flow_step, p_task int, p_error json)
returns json
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return json_build_object('code', 'failed', 'message', format('step %s failed: %s', pawl._task_name(p_step.name, p_task), pawl._error_text(p_error)),
        'spreads', p_step.failed = 'skip_all', 'error', p_error);
end
$$;
comment on function pawl._skipped_failure(pawl_data.flow_step, int, json) is 'why a task that failed was skipped';

-- Returns why a step must be skipped together with one of its dependencies, or null.
create or replace function pawl._skipped_before(p_run pawl_data.task, p_step pawl_data.flow_step)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if not p_step.spreads then
        return null;
    end if;
    return (
        select json_build_object('code', 'skipped', 'message', format('step %s was skipped', x.name), 'spreads', true)
        from pawl._outputs(array[p_run.run_id], array(select pawl._task_no(d) from unnest(p_step.deps) d)) o
        join pawl_data.flow_step x on x.workflow_id = p_step.workflow_id and x.step_no = pawl._step_of(o.task_no)
        where o.state = 'k' and (o.error ->> 'spreads')::boolean
        order by x.step_no
        limit 1);
end
$$;
comment on function pawl._skipped_before(pawl_data.task, pawl_data.flow_step) is 'why a step is skipped together with another';

create or replace function pawl._meets(p_condition json, p_input json)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce(pawl._digest(pawl._path_set(p_condition), pawl._comparable(p_input))
                    = pawl._match_digest(p_condition), false);
end
$$;
comment on function pawl._meets(json, json) is 'whether an input meets a condition';

-- Returns how many dependencies a step can have, none of them heavy, without exceeding _gather_max(). No more than 16, because outputs may
-- be older than the limit on payloads.
create or replace function pawl._few_deps()
returns int
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (select least(16, pawl._gather_max() / greatest(s.payload_max, 1)) from pawl_data.setting s where s.only_row);
end
$$;
comment on function pawl._few_deps() is 'how many outputs are within the limit, however large they are';

-- Returns an error if the outputs that a step depends on are over the limit, otherwise null. The step receives them as one value.
create or replace function pawl._too_much(p_run pawl_data.task, p_step pawl_data.flow_step)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_step.heavy_deps = '{}' and cardinality(p_step.deps) <= pawl._few_deps() then
        return null;
    end if;
    return (
        select json_build_object('code', 'output_too_large', 'message',
            format('the outputs %s have %s bytes together, the limit is %s',
                case when p_step.step_no = 0 then 'of the last steps' else 'that step ' || p_step.name || ' depends on' end, b.bytes,
                pawl._gather_max()))
        from pawl._dep_bytes(array[p_run.run_id], array[p_step.step_no]) b
        -- guard:gather_max
        where b.bytes > pawl._gather_max());
end
$$;
comment on function pawl._too_much(pawl_data.task, pawl_data.flow_step) is 'an error if a step depends on more than it can be given';

-- Returns the elements of the array that a map step goes over.
create or replace function pawl._map_items(p_run pawl_data.task, p_step pawl_data.flow_step, out items json[], out error json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_from pawl_data.flow_step;
    v_array json;
    v_count int;
begin
    if p_step.map_from = 0 then
        v_array := pawl._run_input(p_run.run_id);
    else
        v_from := pawl._flow_step(p_run, p_step.map_from);
        -- A skipped step has no elements to go over.
        v_array := case when v_from.map_from is not null
                        then coalesce((select g.outputs from pawl._gather(array[p_run.run_id], array[p_step.map_from]) g), '[]')
                        else (select case when o.state = 'k' then '[]' else o.output end
                              from pawl._outputs(array[p_run.run_id], array[pawl._task_no(p_step.map_from)]) o) end;
    end if;
    if json_typeof(v_array) is distinct from 'array' then
        error := json_build_object('code', 'not_an_array', 'message', format('step %s maps over %s, which is not an array',
            p_step.name, case when p_step.map_from = 0 then 'the input of the run' else 'the output of step ' || v_from.name end));
        return;
    end if;
    v_count := json_array_length(v_array);
    -- guard:map_max
    if v_count > 100000 then
        error := json_build_object('code', 'too_many_elements', 'message',
            format('step %s maps over %s elements, the limit is 100000', p_step.name, v_count));
        return;
    end if;
    items := array(select e.value from json_array_elements(v_array) with ordinality e (value, n) order by e.n);
end
$$;
comment on function pawl._map_items(pawl_data.task, pawl_data.flow_step) is 'the elements that a map step goes over';

-- Creates the tasks of one step, one for each item, or its child runs. Items that an earlier round has recorded are left out. Returns the
-- number of tasks or children. p_input is the input of the step as a whole, or null.
create or replace function pawl._put_tasks(
    p_run pawl_data.task, p_step pawl_data.flow_step, p_items json[], p_input json, p_now timestamptz, p_delay interval)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_delay interval := nullif(coalesce(p_delay, '0') + coalesce(p_step.delay, '0'), '0');
    v_fence int := pawl._first_fence(p_run.round);
    v_paused json := pawl._paused_task(p_run.paused, p_now, v_delay);
    v_done int[] := array[]::int[];
    v_count int;
    v_item record;
begin
    if p_step.map_from is not null and p_run.recorded then
        v_done := array(select e.task_no from pawl._elements(array[p_run.run_id], array[p_step.step_no]) e);
    end if;
    if p_step.child_workflow_id is not null then
        v_count := cardinality(p_items) - cardinality(v_done);
        -- Ahead of the first child: a child with nothing to do ends as it is started, and counts the gate down.
        perform pawl._open_gate(p_run, p_step, v_count, p_now);
        for v_item in
            select i.n, i.item from unnest(p_items) with ordinality i (item, n)
            where not exists (select from unnest(v_done) d where d = pawl._task_no(p_step.step_no, i.n::int))
        loop
            -- A child may also fail as it is started, and the run with it: then no further child starts.
            exit when not exists (
                select from pawl_data.task t where t.run_id = p_run.run_id and t.task_no = 0 and t.ending is null);
            perform pawl._start_step_child(p_run, p_step,
                pawl._task_no(p_step.step_no, case when p_step.map_from is null then 0 else v_item.n::int end),
                case when p_step.map_from is null then p_input
                     else json_build_object('run', pawl._run_input(p_run.run_id), 'item', v_item.item, 'index', v_item.n - 1) end,
                p_now, v_delay);
        end loop;
    else
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, round, fence, kept, recorded, reason, due_at, triggered_at,
                               tenant, limit_key, paused, woken, input)
        select p_run.run_id, t.task_no, p_step.queue_id,
               case when p_run.paused is not null or v_delay > interval '0' then 'w' else 'r' end,
               coalesce(p_step.priority, p_run.priority), p_run.round, v_fence, p_run.kept, p_run.recorded,
               case when p_run.paused is not null then 'operator' when v_delay > interval '0' then 'delay' end,
               case when p_run.paused is not null then 'infinity' else coalesce(pawl._shift(p_now, v_delay), p_now) end,
               p_run.triggered_at, p_run.tenant, p_run.limit_key, v_paused,
               p_run.paused is not null and not coalesce(v_delay > interval '0', false), t.item
        from (
            select pawl._task_no(p_step.step_no, case when p_step.map_from is null then 0 else i.n::int end) as task_no, i.item
            from unnest(p_items) with ordinality i (item, n)
        ) t
        where not exists (select from unnest(v_done) d where d = t.task_no);
        get diagnostics v_count = row_count;
        perform pawl._open_gate(p_run, p_step, v_count, p_now);
        perform pawl._wake_one(p_step.queue_id, p_run.tenant, p_now);
    end if;
    return v_count;
end
$$;
comment on function pawl._put_tasks(pawl_data.task, pawl_data.flow_step, json[], json, timestamptz, interval) is 'makes the tasks of a step of a flow';

-- Makes a map step wait for p_count elements. Without elements it is done.
create or replace function pawl._open_gate(p_run pawl_data.task, p_step pawl_data.flow_step, p_count int, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_step.map_from is not null and p_count > 0 then
        insert into pawl_data.gate (run_id, step_no, missing) values (p_run.run_id, p_step.step_no, p_count);
    elsif p_step.map_from is not null then
        perform pawl._end_maps(array[p_run.run_id], array[p_step.step_no], p_now);
    end if;
end
$$;
comment on function pawl._open_gate(pawl_data.task, pawl_data.flow_step, int, timestamptz) is 'lets a map step wait for its elements';

-- Starts a step that is another workflow: there is no task, but a child run and a wait for it.
create or replace function pawl._start_step_child(
    p_run pawl_data.task, p_step pawl_data.flow_step, p_task int, p_input json, p_now timestamptz, p_delay interval)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow;
    v_child uuid := pawl._id_make(p_now, pawl._id_slot(p_run.run_id));
begin
    select w.* into v_workflow from pawl_data.workflow w where w.workflow_id = p_step.child_workflow_id;
    -- The wait comes first: a child with nothing to do ends as it is started, and completes the wait.
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, child_id, created_at, due_at)
    values (p_run.run_id, p_task, p_step.name, 'c', p_step.step_no, p_run.tenant, v_child, p_now, 'infinity');
    update pawl_data.task t set attached = true where t.run_id = p_run.run_id and t.task_no = 0 and not t.attached;
    perform pawl._insert_run(p_now, v_workflow.queue_id, v_workflow.run_timeout, v_workflow.expires,
        case when v_workflow.flow then v_workflow.workflow_id end, v_child, false, p_input, p_run.tenant,
        coalesce(p_step.priority, v_workflow.priority), p_delay, null, null, p_run.limit_key, p_run.run_id, p_step.name, p_task, false);
    perform pawl._wake_one(v_workflow.queue_id, p_run.tenant, p_now);
end
$$;
comment on function pawl._start_step_child(pawl_data.task, pawl_data.flow_step, int, json, timestamptz, interval) is 'starts a child run for a step of a flow';

-- Continues a run that has records: counts the gates again from the records and starts the next steps.
create or replace function pawl._reopen_flow(p_run uuid, p_workflow int, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_done int[] := array(
        select pawl._step_of(o.task_no)
        from pawl._outputs(array[p_run], array(
            select pawl._task_no(s.step_no) from pawl_data.flow_step s where s.workflow_id = p_workflow and s.step_no > 0)) o);
    v_steps int[];
    v_whole int[];
begin
    with step as materialized (
        select s.step_no, cardinality(s.deps) as needed,
               (select count(*)::int from unnest(s.deps) d where d = any (v_done)) as come
        from pawl_data.flow_step s
        where s.workflow_id = p_workflow and s.step_no <> all (v_done)
    ), made as (
        insert into pawl_data.gate (run_id, step_no, missing)
        select p_run, s.step_no, s.needed - s.come from step s where s.come > 0 and s.come < s.needed
    )
    select array_agg(s.step_no) into v_steps from step s where s.come = s.needed;
    if 0 = any (v_steps) then
        perform pawl._end_flows(array[p_run], p_now);
        return;
    end if;
    v_whole := array(
        select s.step_no
        from pawl._start_steps(array(select p_run from unnest(v_steps)), v_steps, p_now, null) s);
    if cardinality(v_whole) > 0 then
        perform pawl._advance(array(select p_run from unnest(v_whole)), array(select pawl._task_no(s) from unnest(v_whole) s), p_now);
    end if;
end
$$;
comment on function pawl._reopen_flow(uuid, int, timestamptz) is 'lets a run of a flow go on from its records';
