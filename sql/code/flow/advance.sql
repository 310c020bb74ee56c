-- SPDX-License-Identifier: Apache-2.0
-- How a run of a flow continues: tasks end and are recorded, and gates count down. Every caller has locked the run's task 0, so no other
-- transaction does the same for this run.

-- Records the result of a task of a flow: a step, or an element of a map step. p_run is task 0 of the run.
create or replace function pawl._record_task(
    p_run pawl_data.task, p_task int, p_name text, p_state "char", p_output json, p_error json, p_undo json, p_attempt int, p_fence int,
    p_started timestamptz, p_now timestamptz, p_source uuid default null)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- In an earlier round the outcome of this task may have been unknown, which left a RUNNING record. The new record replaces it.
    if p_run.round > 1 then
        delete from pawl_data.step s where s.run_id = p_run.run_id and s.task_no = p_task and s.name = p_name and s.state = 'r';
        delete from pawl_data.step_kept k where k.run_id = p_run.run_id and k.task_no = p_task and k.name = p_name and k.state = 'r';
    end if;
    if not p_run.kept then
        perform pawl._need_partitions(array[p_run.run_id], array['step']);
    end if;
    perform pawl._write_step(row(p_run.run_id, p_task, p_run.round, p_state, case when p_source is null then 's' else 'c' end,
        pawl._step_of(p_task), p_attempt, p_fence, coalesce(p_started, p_now), case when p_state <> 'r' then p_now end, p_name, p_output,
        p_error, p_undo, p_source)::pawl_data.step, p_run.kept);
end
$$;
comment on function pawl._record_task(pawl_data.task, int, text, "char", json, json, json, int, int, timestamptz, timestamptz, uuid) is 'records the result of a task of a flow';

create or replace function pawl._flow_step(p_run pawl_data.task, p_step int)
returns pawl_data.flow_step
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_step pawl_data.flow_step;
begin
    select s.* into v_step
    from pawl_data.queue q
    join pawl_data.flow_step s on s.workflow_id = q.workflow_id
    where q.queue_id = p_run.queue_id and s.step_no = p_step;
    return v_step;
end
$$;
comment on function pawl._flow_step(pawl_data.task, int) is 'the definition of a step, by the run';

-- Ends many plain tasks of flows at once. The caller has locked and checked their rows, so p_tids stays valid. It has also locked task 0 of
-- each run, which is plain, too.
create or replace function pawl._finish_tasks(p_tids tid[], p_outputs text[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
set plan_cache_mode to force_generic_plan
as $$
declare
    v_runs uuid[];
    v_tasks int[];
begin
    with gone as (
        delete from pawl_data.task t
        using unnest(p_tids, p_outputs) e (tid, output)
        where t.ctid = e.tid
        returning t.run_id, t.task_no, t.round, t.execution, t.fence, t.started_at, t.queue_id, e.output
    ), recorded as (
        insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output, undo)
        select g.run_id, g.task_no, g.round, 's', 's', pawl._step_of(g.task_no), g.execution, g.fence, coalesce(g.started_at, p_now), p_now,
               s.name, g.output::json, s.undo
        from gone g
        cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = g.queue_id offset 0) q
        cross join lateral (select s.* from pawl_data.flow_step s where s.workflow_id = q.workflow_id and s.step_no = pawl._step_of(g.task_no) offset 0) s
    )
    select array_agg(g.run_id), array_agg(g.task_no) into v_runs, v_tasks from gone g;
    if coalesce(cardinality(v_runs), 0) < cardinality(p_tids) then
        -- guard:task_ends_once
        perform pawl._raise('PW010', 'a task ends twice in one call', 'Resend the call with pawl.commit_each().');
    end if;
    perform pawl._advance(v_runs, v_tasks, p_now);
end
$$;
comment on function pawl._finish_tasks(tid[], text[], timestamptz) is 'records plain tasks of flows and lets their runs go on';

-- Counts tasks that are done and recorded, starts the steps that can start now, and ends the runs that have no step left.
create or replace function pawl._advance(p_runs uuid[], p_tasks int[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
set plan_cache_mode to force_generic_plan
as $$
declare
    v_runs uuid[];
    v_steps int[];
    v_ready_runs uuid[];
    v_ready_steps int[];
    v_ended uuid[] := array[]::uuid[];
begin
    select array_agg(d.run_id), array_agg(d.step_no) into v_runs, v_steps
    from pawl._whole_steps(p_runs, p_tasks, p_now) d;
    while cardinality(v_runs) > 0 loop
        with came as materialized (
            select d.run_id, e.dependent_no as step_no, count(*)::int as n, cardinality(s.deps) as needed
            from unnest(v_runs, v_steps) d (run_id, step_no)
            cross join lateral (select t.* from pawl_data.task t where t.run_id = d.run_id and t.task_no = 0 offset 0) t
            cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = t.queue_id offset 0) q
            cross join lateral (
                select e.dependent_no from pawl_data.flow_edge e
                where e.workflow_id = q.workflow_id and e.step_no = d.step_no offset 0) e
            cross join lateral (select s.* from pawl_data.flow_step s where s.workflow_id = q.workflow_id and s.step_no = e.dependent_no offset 0) s
            -- No new step starts in a run that is ending.
            -- guard:advance_ending
            where t.ending is null
            group by d.run_id, e.dependent_no, cardinality(s.deps)
        ), counted as (
            update pawl_data.gate g
            -- guard:gate_counts
            set missing = g.missing - c.n
            from came c
            cross join lateral (
                select h.ctid from pawl_data.gate h where h.run_id = c.run_id and h.step_no = c.step_no offset 0) h
            where g.ctid = h.ctid and c.n < c.needed
            returning g.run_id, g.step_no, g.missing
        ), made as (
            insert into pawl_data.gate (run_id, step_no, missing)
            select c.run_id, c.step_no, c.needed - c.n
            from came c
            where c.n < c.needed
              and not (select exists (
                  select from pawl_data.gate g where g.run_id = c.run_id and g.step_no = c.step_no offset 0))
        )
        select array_agg(r.run_id), array_agg(r.step_no)
        into v_ready_runs, v_ready_steps
        from (
            select c.run_id, c.step_no from came c where c.n = c.needed
            union all
            select o.run_id, o.step_no from counted o where o.missing = 0
        ) r;
        exit when v_ready_runs is null;
        delete from pawl_data.gate g
        using unnest(v_ready_runs, v_ready_steps) r (run_id, step_no)
        cross join lateral (
            select h.ctid from pawl_data.gate h where h.run_id = r.run_id and h.step_no = r.step_no offset 0) h
        where g.ctid = h.ctid;
        v_ended := v_ended || array(
            select r.run_id from unnest(v_ready_runs, v_ready_steps) r (run_id, step_no) where r.step_no = 0);
        select array_agg(s.run_id), array_agg(s.step_no) into v_runs, v_steps
        from pawl._start_steps(v_ready_runs, v_ready_steps, p_now, null) s;
    end loop;
    if cardinality(v_ended) > 0 then
        perform pawl._end_flows(v_ended, p_now);
    end if;
end
$$;
comment on function pawl._advance(uuid[], int[], timestamptz) is 'lets runs of flows go on after some of their tasks';

-- Returns the steps that end with these tasks. A map step ends with its last element; any other step has one task.
create or replace function pawl._whole_steps(p_runs uuid[], p_tasks int[], p_now timestamptz)
returns table (run_id uuid, step_no int)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_runs uuid[];
    v_steps int[];
begin
    return query
    select i.run_id, pawl._step_of(i.task_no) from unnest(p_runs, p_tasks) i (run_id, task_no) where pawl._element_of(i.task_no) = 0;
    if not exists (select from unnest(p_tasks) t where pawl._element_of(t) > 0) then
        return;
    end if;
    with counted as (
        update pawl_data.gate g
        set missing = g.missing - c.n
        from (
            select i.run_id, pawl._step_of(i.task_no) as step_no, count(*)::int as n
            from unnest(p_runs, p_tasks) i (run_id, task_no)
            where pawl._element_of(i.task_no) > 0
            group by i.run_id, pawl._step_of(i.task_no)
        ) c
        cross join lateral (
            select h.ctid from pawl_data.gate h where h.run_id = c.run_id and h.step_no = c.step_no offset 0) h
        where g.ctid = h.ctid
        returning g.run_id, g.step_no, g.missing
    )
    select array_agg(c.run_id), array_agg(c.step_no) into v_runs, v_steps from counted c where c.missing = 0;
    if v_runs is not null then
        perform pawl._end_maps(v_runs, v_steps, p_now);
        return query select d.run_id, d.step_no from unnest(v_runs, v_steps) d (run_id, step_no);
    end if;
end
$$;
comment on function pawl._whole_steps(uuid[], int[], timestamptz) is 'the steps that are done with these tasks';

-- Writes one record for each map step whose last element is done, or that has no elements. The outputs stay in the records of the elements.
create or replace function pawl._end_maps(p_runs uuid[], p_steps int[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
set plan_cache_mode to force_generic_plan
as $$
declare
    v_map record;
begin
    perform pawl._need_partitions(p_runs, array['step']);
    delete from pawl_data.gate g
    using unnest(p_runs, p_steps) d (run_id, step_no)
    cross join lateral (
        select h.ctid from pawl_data.gate h where h.run_id = d.run_id and h.step_no = d.step_no offset 0) h
    where g.ctid = h.ctid;
    for v_map in
        with it as materialized (
            select t.run, s.step_no, s.name
            from unnest(p_runs, p_steps) d (run_id, step_no)
            cross join lateral (select t as run from pawl_data.task t where t.run_id = d.run_id and t.task_no = 0 offset 0) t
            cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = (t.run).queue_id offset 0) q
            cross join lateral (
                select s.step_no, s.name from pawl_data.flow_step s where s.workflow_id = q.workflow_id and s.step_no = d.step_no offset 0) s
        ), recorded as (
            -- The plain case of _record_task, without the call.
            insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name)
            select (i.run).run_id, pawl._task_no(i.step_no), (i.run).round, 's', 's', i.step_no, 1, 0, p_now, p_now, i.name
            from it i
            where (i.run).round = 1 and not (i.run).kept
        )
        select i.* from it i where (i.run).round > 1 or (i.run).kept
    loop
        perform pawl._record_task(v_map.run, pawl._task_no(v_map.step_no), v_map.name, 's', null, null, null, 1, 0, p_now, p_now);
    end loop;
end
$$;
comment on function pawl._end_maps(uuid[], int[], timestamptz) is 'records the ends of map steps';
