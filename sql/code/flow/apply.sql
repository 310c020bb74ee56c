-- SPDX-License-Identifier: Apache-2.0
-- Apply: creates a flow from a definition, or changes it.

-- Returns the steps of a definition, each after its dependencies and otherwise in the order of the definition. Raises an error if there is
-- a cycle. It walks from each step down to its dependencies, once: 2,000 steps in the worst order cost no more than in the best.
create or replace function pawl._order_steps(p_steps json)
returns table (n int, step text, deps text[], options json)
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_count int := json_array_length(p_steps);
    -- v_edges has the dependencies of all steps, by number, one step after the other; v_first has where each step begins in it. A
    -- dependency that no step is named after is left out; add_step refuses it.
    v_edges int[];
    v_first int[];
    v_next int[];
    -- 0 not seen, 1 on the way down, 2 done.
    v_state int[] := array_fill(0, array[v_count]);
    v_way int[] := array[]::int[];
    v_depth int;
    v_at int;
    v_dep int;
    v_order int[] := array[]::int[];
begin
    with it as materialized (
        select s.value, s.n::int as n, s.value ->> 'step' as name from json_array_elements(p_steps) with ordinality s (value, n)
    ), edge as materialized (
        select i.n, k.n as dep_n, d.m
        from it i
        cross join lateral json_array_elements_text(coalesce(i.value -> 'deps', '[]')) with ordinality d (name, m)
        join it k on k.name = d.name
    )
    select (select array_agg(e.dep_n order by e.n, e.m) from edge e),
           array_agg(1 + b.before order by b.n)
    into v_edges, v_first
    from (
        select i.n, coalesce(sum(c.count) over (order by i.n rows between unbounded preceding and 1 preceding), 0)::int as before
        from (select generate_series(1, v_count + 1) as n) i
        left join (select e.n, count(*) from edge e group by e.n) c on c.n = i.n
    ) b;
    v_next := v_first;
    for v_root in 1..v_count loop
        v_depth := (v_state[v_root] = 0)::int;
        v_way[1] := v_root;
        while v_depth > 0 loop
            v_at := v_way[v_depth];
            v_state[v_at] := 1;
            if v_next[v_at] = v_first[v_at + 1] then
                v_state[v_at] := 2;
                v_order := v_order || v_at;
                v_depth := v_depth - 1;
                continue;
            end if;
            v_dep := v_edges[v_next[v_at]];
            v_next[v_at] := v_next[v_at] + 1;
            if v_state[v_dep] = 1 then
                -- guard:flow_cycle
                perform pawl._raise('PW003', format('the steps %s depend on each other in a circle', (
                    select string_agg(p_steps -> w.at - 1 ->> 'step', ', ' order by w.n)
                    from unnest(v_way[:v_depth]) with ordinality w (at, n)
                    where w.n >= array_position(v_way, v_dep))), 'Remove a dependency: a flow has no cycles.');
            elsif v_state[v_dep] = 0 then
                v_depth := v_depth + 1;
                v_way[v_depth] := v_dep;
            end if;
        end loop;
    end loop;
    return query
    select o.n::int, i.value ->> 'step', array(select d from json_array_elements_text(coalesce(i.value -> 'deps', '[]')) d),
           (select coalesce(json_object_agg(x.key, x.value), '{}') from json_each(i.value) x where x.key not in ('step', 'deps'))
    from unnest(v_order) with ordinality o (at, n)
    join json_array_elements(p_steps) with ordinality i (value, n) on i.n = o.at
    order by o.n;
end
$$;
comment on function pawl._order_steps(json) is 'the steps of a flow, each after its dependencies';

-- Raises an error unless the definition of a flow has the right form.
create or replace function pawl._check_definition(p_definition json)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_unknown text;
begin
    if json_typeof(p_definition) is distinct from 'object' or coalesce(json_typeof(p_definition -> 'flow'), '') <> 'string'
       or coalesce(json_typeof(p_definition -> 'steps'), '') <> 'array' then
        perform pawl._raise('PW003', 'a flow is an object with "flow", its name, and "steps", a list',
            'For example {"flow": "web.v1", "steps": [{"step": "fetch"}, {"step": "report", "deps": ["fetch"]}]}');
    end if;
    select string_agg(k, ', ') into v_unknown
    from json_object_keys(p_definition) k
    where k not in ('flow', 'steps', 'runtime', 'priority', 'max_attempts', 'base', 'factor', 'cap', 'jitter', 'run_timeout',
                    'step_timeout', 'description', 'input_schema');
    if v_unknown is not null then
        perform pawl._raise('PW003', format('unknown option "%s" of a flow', v_unknown));
    end if;
    if exists (
        select from json_array_elements(p_definition -> 'steps') s
        where json_typeof(s) <> 'object' or coalesce(json_typeof(s -> 'step'), '') <> 'string'
           or coalesce(json_typeof(s -> 'deps'), 'array') <> 'array') then
        perform pawl._raise('PW003', 'each of the steps is an object with "step", its name, and perhaps "deps", a list of names');
    end if;
    if json_array_length(p_definition -> 'steps') > 2000 then
        perform pawl._raise('PW009', format('%s steps, the limit is 2000', json_array_length(p_definition -> 'steps')));
    end if;
    if (select count(distinct s ->> 'step') from json_array_elements(p_definition -> 'steps') s) < json_array_length(p_definition -> 'steps') then
        perform pawl._raise('PW003', 'two steps have the same name');
    end if;
end
$$;
comment on function pawl._check_definition(json) is 'refuses a definition of a flow that has not the right form';

-- Creates or changes a flow so that it matches its definition. For a new flow, p_flow is a row of nulls.
create or replace function pawl._change_flow(p_flow pawl_data.workflow, p_definition json, p_options json, p_altered boolean, p_steps boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_name text := p_definition ->> 'flow';
begin
    if p_flow.workflow_id is null then
        perform pawl.create_flow(v_name);
    end if;
    if (p_altered or p_flow.workflow_id is null) and p_options::text <> '{}' then
        perform pawl.alter_workflow(v_name, p_options);
    end if;
    if p_steps then
        -- Not triggered yet, so nothing depends on the numbers of the steps.
        delete from pawl_data.flow_edge e where e.workflow_id = p_flow.workflow_id;
        delete from pawl_data.flow_step s where s.workflow_id = p_flow.workflow_id;
        delete from pawl_data.queue q where q.workflow_id = p_flow.workflow_id and q.queue_id <> p_flow.queue_id;
        perform pawl.add_step(v_name, d.step, d.deps, d.options)
        from (select o.* from pawl._order_steps(p_definition -> 'steps') o order by o.n offset 0) d;
    end if;
end
$$;
comment on function pawl._change_flow(pawl_data.workflow, json, json, boolean, boolean) is 'brings a flow to its definition';

create or replace function pawl.apply_flow(definition json, only_check boolean default false)
returns table (change text, step text, was json, becomes json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '10s'
as $$
#variable_conflict use_column
declare
    v_name text;
    v_flow pawl_data.workflow;
    v_options json;
    v_schema json;
    v_changes int := 0;
    v_steps int := 0;
begin
    perform pawl._only_read_committed('apply_flow');
    perform pawl._only_unbound('apply_flow');
    perform pawl._check_definition(definition);
    v_name := definition ->> 'flow';
    v_options := (select coalesce(json_object_agg(o.key, o.value), '{}') from json_each(definition) o where o.key not in ('flow', 'steps'));
    select w.* into v_flow from pawl_data.workflow w where w.name = v_name for update;
    -- With only_check, the call leaves no row of the name.
    if not found and not only_check then
        perform pawl._hold_name(v_name);
        select w.* into v_flow from pawl_data.workflow w where w.name = v_name for update;
    end if;
    if v_flow.workflow_id is not null and not v_flow.flow then
        perform pawl._raise('PW003', format('workflow "%s" is not a flow', v_name), 'Use a new name.');
    end if;
    for change, step, was, becomes in
        select case when o.step_no is null then 'add' when d.step is null then 'remove' else 'change' end, coalesce(o.name, d.step),
               case when o.step_no is not null then json_build_object('deps', to_json(pawl._dep_names(o)), 'options', o.options) end,
               case when d.step is not null then json_build_object('deps', to_json(d.deps), 'options', d.options) end
        from (select s.* from pawl_data.flow_step s where s.workflow_id = v_flow.workflow_id and s.step_no > 0) o
        full join pawl._order_steps(definition -> 'steps') d on d.step = o.name
        where o.step_no is null or d.step is null or o.options::jsonb <> d.options::jsonb or pawl._dep_names(o) <> d.deps
        order by coalesce(d.n, 0), o.step_no
    loop
        v_steps := v_steps + 1;
        return next;
    end loop;
    step := null;
    for change, was, becomes in
        select 'option', json_build_object(k.key, to_jsonb(v_flow) -> k.key), json_build_object(k.key, k.value)
        from json_each(v_options) k
        where v_flow.workflow_id is not null and (to_jsonb(v_flow) ->> k.key) is distinct from
              (to_jsonb(json_populate_record(v_flow, v_options)) ->> k.key)
        order by k.key
    loop
        v_changes := v_changes + 1;
        return next;
    end loop;
    v_schema := pawl._input_schema(v_flow.workflow_id);
    -- guard:flow_input_schema
    if v_flow.workflow_id is not null and (v_options -> 'input_schema') is not null
       and coalesce(v_schema, 'null')::jsonb <> (v_options -> 'input_schema')::jsonb then
        change := 'option';
        was := json_build_object('input_schema', v_schema);
        becomes := json_build_object('input_schema', v_options -> 'input_schema');
        v_changes := v_changes + 1;
        return next;
    end if;
    if v_flow.frozen and v_steps > 0 and only_check then
        return;
    end if;
    if v_flow.frozen and v_steps > 0 then
        perform pawl._raise('PW003', format('flow "%s" has been triggered, so its steps do not change', v_name), 'Use a new name.');
    end if;
    begin
        perform pawl._change_flow(v_flow, definition, v_options, v_changes > 0, v_steps > 0);
        if only_check then
            -- Undoes the changes. At this point every check of a real call has passed.
            raise exception 'checked';
        end if;
    exception
        when raise_exception then
            if not only_check or sqlerrm <> 'checked' then
                raise;
            end if;
    end;
end
$$;
comment on function pawl.apply_flow(json, boolean) is
'Brings a flow to what a definition says, in one transaction: {"flow": NAME, options of create_flow..., "steps": [{"step": NAME, "deps": [NAME, ...], options of add_step...}, ...]}, in any order. The answer has a row for each change: add, change, remove of a step, option of the flow; none when all is as it should be. With only_check nothing is changed, but a bad definition is refused all the same. A flow that was triggered keeps its steps; a definition that changes them is refused, or with only_check only answered with the changes.
If repeated: returns no rows, and nothing changes.
Locks: the row of the flow, or a new row of its name; waits for another transaction that has it, ten seconds at most.
Errors: PW002 unknown workflow of a step, PW003 a bad definition, a cycle, or a change of the steps of a flow that was triggered, PW007 the role is bound to one tenant, PW008 isolation level, PW009 more than 2,000 steps, or input_schema is over 64 kB, 64 levels or 10,000 keys; 22xxx a value that is not of its type.
Limits: 2,000 steps.';

create or replace function pawl._dep_names(p_step pawl_data.flow_step)
returns text[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array(
        select d.name from unnest(p_step.deps) with ordinality u (no, n)
        join pawl_data.flow_step d on d.workflow_id = p_step.workflow_id and d.step_no = u.no order by u.n);
end
$$;
comment on function pawl._dep_names(pawl_data.flow_step) is 'the names of what a step depends on';
