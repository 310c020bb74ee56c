-- SPDX-License-Identifier: Apache-2.0
-- Results of the tasks of a flow, and the inputs that are made of them.

-- Returns the SUCCESS and SKIPPED records of tasks of flows, from step and step_kept. Asked by run and by task, as _steps_of() does, so that a
-- run of many tasks is not read whole.
create or replace function pawl._outputs(p_runs uuid[], p_tasks int[])
returns table (run_id uuid, task_no int, state "char", output json, error json, started_at timestamptz)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
begin
    return query
    select s.*
    from (select distinct t.task_no from unnest(p_tasks) t (task_no)) t
    cross join lateral (
        select s.run_id, s.task_no, s.state, s.output, s.error, s.started_at
        from pawl_data.step s
        where s.run_id = any (p_runs) and s.task_no = t.task_no and strpos(s.name, '#') = 0 and s.state in ('s', 'k')
        offset 0
    ) s
    union all
    select k.*
    from (select distinct t.task_no from unnest(p_tasks) t (task_no)) t
    cross join lateral (
        select k.run_id, k.task_no, k.state, k.output, k.error, k.started_at
        from pawl_data.step_kept k
        where k.run_id = any (p_runs) and k.task_no = t.task_no and strpos(k.name, '#') = 0 and k.state in ('s', 'k')
        offset 0
    ) k;
end
$$;
comment on function pawl._outputs(uuid[], int[]) is 'the records of tasks of flows';

-- Returns the records of the elements of map steps. Asked step by step, so that a run of many tasks is not read whole.
create or replace function pawl._elements(p_runs uuid[], p_steps int[])
returns table (run_id uuid, step_no int, task_no int, output json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_step int;
    v_runs uuid[];
begin
    for v_step, v_runs in
        select d.step_no, array_agg(distinct d.run_id) from unnest(p_runs, p_steps) d (run_id, step_no) group by d.step_no
    loop
        return query
        select s.run_id, v_step, s.task_no, s.output
        from pawl_data.step s
        where s.run_id = any (v_runs) and s.task_no between pawl._task_no(v_step, 1) and pawl._task_no(v_step + 1) - 1
          -- An element that failed and was skipped yields null.
          -- guard:flow_failed_element
          and strpos(s.name, '#') = 0 and s.state in ('s', 'k')
        union all
        select k.run_id, v_step, k.task_no, k.output
        from pawl_data.step_kept k
        where k.run_id = any (v_runs) and k.task_no between pawl._task_no(v_step, 1) and pawl._task_no(v_step + 1) - 1
          and strpos(k.name, '#') = 0 and k.state in ('s', 'k');
    end loop;
end
$$;
comment on function pawl._elements(uuid[], int[]) is 'the recorded elements of map steps';

create or replace function pawl._gather_max()
returns bigint
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return 67108864;
end
$$;
comment on function pawl._gather_max() is 'bytes that the outputs which a step depends on may have together';

-- Counts the bytes of the outputs that steps of flows depend on.
create or replace function pawl._dep_bytes(p_runs uuid[], p_steps int[])
returns table (run_id uuid, step_no int, bytes bigint)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_runs uuid[];
    v_steps int[];
    v_deps int[];
    v_heavy boolean[];
begin
    -- Most flows have nothing that could be so large.
    if coalesce(cardinality(p_runs), 0) = 0 then
        return;
    end if;
    select array_agg(i.run_id), array_agg(i.step_no), array_agg(d.no), array_agg(d.no = any (s.heavy_deps))
    into v_runs, v_steps, v_deps, v_heavy
    from unnest(p_runs, p_steps) i (run_id, step_no)
    cross join lateral (select t.queue_id from pawl_data.task t where t.run_id = i.run_id and t.task_no = 0 offset 0) t
    cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = t.queue_id offset 0) q
    cross join lateral (
        select s.deps, s.heavy_deps from pawl_data.flow_step s where s.workflow_id = q.workflow_id and s.step_no = i.step_no offset 0) s
    cross join lateral unnest(s.deps) d (no);
    return query
    with part as materialized (
        select o.run_id, pawl._step_of(o.task_no) as no, octet_length(o.output::text) as bytes
        from pawl._outputs(array(select distinct r from unnest(v_runs) r), array(select distinct pawl._task_no(d) from unnest(v_deps) d)) o
        union all
        select e.run_id, e.step_no, sum(octet_length(e.output::text))
        from pawl._elements(
            array(select h.run_id from unnest(v_runs, v_heavy) h (run_id, heavy) where h.heavy),
            array(select h.dep_no from unnest(v_deps, v_heavy) h (dep_no, heavy) where h.heavy)) e
        group by e.run_id, e.step_no
    )
    select w.run_id, w.step_no, sum(p.bytes)::bigint
    from unnest(v_runs, v_steps, v_deps) w (run_id, step_no, dep_no)
    join part p on p.run_id = w.run_id and p.no = w.dep_no
    group by w.run_id, w.step_no;
end
$$;
comment on function pawl._dep_bytes(uuid[], int[]) is 'how much steps of flows depend on';

-- Returns the outputs of map steps, each as one array in order. There is no row for a map step that has no elements, or that was skipped.
create or replace function pawl._gather(p_runs uuid[], p_steps int[])
returns table (run_id uuid, step_no int, outputs json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    -- Most flows gather nothing.
    if cardinality(p_runs) = 0 then
        return;
    end if;
    return query
    select e.run_id, e.step_no, json_agg(e.output order by e.task_no)
    from pawl._elements(p_runs, p_steps) e
    group by e.run_id, e.step_no;
end
$$;
comment on function pawl._gather(uuid[], int[]) is 'the outputs of map steps as arrays';

-- Returns, for each of these steps, the outputs of its dependencies as one object. For step 0 that is the output of the run, together with
-- the start of its first step.
create or replace function pawl._dep_outputs(p_runs uuid[], p_steps int[])
returns table (run_id uuid, step_no int, outputs json, started_at timestamptz)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_runs uuid[];
    v_steps int[];
    v_deps int[];
    v_names text[];
    v_mapped boolean[];
    v_places bigint[];
begin
    with it as materialized (
        select i.run_id, i.step_no, t.queue_id
        from unnest(p_runs, p_steps) i (run_id, step_no)
        cross join lateral (select t.queue_id from pawl_data.task t where t.run_id = i.run_id and t.task_no = 0 offset 0) t
    ), dep as materialized (
        -- Read once for each flow and step, not for each run.
        select i.queue_id, i.step_no, d.no, d.n, x.name, x.map_from is not null as mapped
        from (select distinct i.queue_id, i.step_no from it i) i
        cross join lateral (select q.workflow_id from pawl_data.queue q where q.queue_id = i.queue_id offset 0) q
        cross join lateral (
            select s.workflow_id, s.deps from pawl_data.flow_step s where s.workflow_id = q.workflow_id and s.step_no = i.step_no offset 0) s
        left join lateral unnest(s.deps) with ordinality d (no, n) on true
        left join lateral (
            select x.name, x.map_from from pawl_data.flow_step x where x.workflow_id = s.workflow_id and x.step_no = d.no offset 0) x on true
    )
    select array_agg(i.run_id), array_agg(i.step_no), array_agg(d.no), array_agg(d.name), array_agg(d.mapped), array_agg(d.n)
    into v_runs, v_steps, v_deps, v_names, v_mapped, v_places
    from it i
    join dep d on d.queue_id = i.queue_id and d.step_no = i.step_no;
    return query
    with done as materialized (
        select o.run_id, o.task_no, o.state, o.output, o.started_at
        from pawl._outputs(array(select distinct r from unnest(v_runs) r), array(
            select pawl._task_no(d) from unnest(v_deps) d where d is not null
            union
            select pawl._task_no(1) where 0 = any (p_steps))) o
    )
    select w.run_id, w.step_no,
           coalesce(json_object_agg(w.name, case when not w.mapped then o.output
                                                 -- A map step that was skipped has null, not an empty array.
                                                 when o.state = 's' then coalesce(g.outputs, '[]') end order by w.n)
                        filter (where w.name is not null), '{}'),
           min(f.started_at)
    from unnest(v_runs, v_steps, v_deps, v_names, v_mapped, v_places) w (run_id, step_no, dep_no, name, mapped, n)
    left join done o on o.run_id = w.run_id and o.task_no = pawl._task_no(w.dep_no)
    left join done f on f.run_id = w.run_id and f.task_no = pawl._task_no(1) and w.step_no = 0
    left join pawl._gather(
        array(select m.run_id from unnest(v_runs, v_mapped) m (run_id, mapped) where m.mapped),
        array(select m.dep_no from unnest(v_deps, v_mapped) m (dep_no, mapped) where m.mapped)) g
        on g.run_id = w.run_id and g.step_no = w.dep_no
    group by w.run_id, w.step_no;
end
$$;
comment on function pawl._dep_outputs(uuid[], int[]) is 'what steps of flows depend on, as objects';

create or replace function pawl._run_input(p_run uuid)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select case when t.input_apart then pawl._input_of(t.run_id) else t.input end
        from pawl_data.task t where t.run_id = p_run and t.task_no = 0);
end
$$;
comment on function pawl._run_input(uuid) is 'the input of a run that has not ended';

-- Puts the key run in front of the keys of an object. Both texts stay as they are.
create or replace function pawl._with_run(p_input json, p_outputs json)
returns json
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (('{"run": ' || coalesce(p_input::text, 'null')
             || case when p_outputs::text ~ '^[{][[:space:]]*[}]$' then '' else ', ' end || substr(ltrim(p_outputs::text), 2)))::json;
end
$$;
comment on function pawl._with_run(json, json) is 'the input of a step of a flow';

-- The inputs of tasks of flows.
create or replace function pawl._task_inputs(p_runs uuid[], p_tasks int[])
returns table (n bigint, run_id uuid, task_no int, input json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_wanted uuid[];
    v_steps int[];
begin
    select array_agg(i.run_id), array_agg(pawl._step_of(i.task_no)) into v_wanted, v_steps
    from unnest(p_runs, p_tasks) i (run_id, task_no) where pawl._element_of(i.task_no) = 0;
    return query
    with run as materialized (
        select r.run_id, t.input
        from (select distinct u as run_id from unnest(p_runs) u) r
        cross join lateral (
            select case when t.input_apart then pawl._input_of(t.run_id) else t.input end as input
            from pawl_data.task t where t.run_id = r.run_id and t.task_no = 0 offset 0) t
    )
    select i.n, i.run_id, i.task_no,
           case when pawl._element_of(i.task_no) > 0
                then json_build_object('run', r.input, 'item', (
                         select t.input from pawl_data.task t where t.run_id = i.run_id and t.task_no = i.task_no),
                         'index', pawl._element_of(i.task_no) - 1)
                -- The same as _with_run(), without the call.
                else ('{"run": ' || coalesce(r.input::text, 'null') || case when d.none then '}' else ', ' end
                      || case when d.none then '' else substr(d.outputs::text, 2) end)::json end
    from unnest(p_runs, p_tasks) with ordinality i (run_id, task_no, n)
    join run r on r.run_id = i.run_id
    left join (
        select o.run_id, o.step_no, o.outputs, o.outputs::text = '{}' as none from pawl._dep_outputs(v_wanted, v_steps) o
    ) d on d.run_id = i.run_id and d.step_no = pawl._step_of(i.task_no) and pawl._element_of(i.task_no) = 0;
end
$$;
comment on function pawl._task_inputs(uuid[], int[]) is 'builds the inputs of tasks of flows';

-- Returns the inputs of claimed tasks of flows, each with its run and number as a key. Their rows are locked, so p_tids stays valid. The
-- inputs have p_max bytes in all, but there is at least one. left_out has the keys of the remaining tasks.
create or replace function pawl._flow_inputs(p_tids tid[], p_max bigint, out keys text[], out inputs json[], out left_out text[])
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_runs uuid[];
    v_tasks int[];
    v_from int := 1;
    -- How many inputs are built at once: few, while their size is unknown.
    v_count int := 4;
    v_total bigint := 0;
    v_part record;
begin
    select array_agg(t.run_id order by t.priority, t.due_at, t.run_id, t.task_no),
           array_agg(t.task_no order by t.priority, t.due_at, t.run_id, t.task_no)
    into v_runs, v_tasks
    from pawl_data.task t where t.ctid = any (p_tids) and t.task_no > 0;
    while v_from <= cardinality(v_runs) loop
        select array_agg(p.run_id || ' ' || p.task_no order by p.n) filter (where p.fits) as keys,
               array_agg(p.input order by p.n) filter (where p.fits) as inputs,
               count(*) filter (where p.fits)::int as n, max(p.total) as total, max(p.bytes) as bytes
        into v_part
        from (
            select b.*, v_total + sum(b.bytes) over (order by b.n) as total,
                   -- guard:claim_inputs
                   v_total + sum(b.bytes) over (order by b.n) <= p_max or v_from = 1 and b.n = 1 as fits
            from (
                select i.*, octet_length(i.input::text) as bytes
                from pawl._task_inputs(v_runs[v_from:v_from + v_count - 1], v_tasks[v_from:v_from + v_count - 1]) i
            ) b
        ) p;
        keys := keys || v_part.keys;
        inputs := inputs || v_part.inputs;
        v_from := v_from + v_part.n;
        v_total := v_part.total;
        exit when v_part.n = 0 or v_total > p_max;
        v_count := least(25 * v_count, (p_max - v_total) / (v_part.bytes + 1) + 1);
    end loop;
    left_out := array(
        select v_runs[i] || ' ' || v_tasks[i] from generate_series(v_from, cardinality(v_runs)) i);
end
$$;
comment on function pawl._flow_inputs(tid[], bigint) is 'the inputs of claimed tasks of flows, as many as may be handed out';
