-- SPDX-License-Identifier: Apache-2.0
-- Definitions of flows: create, add a step, freeze, delete, read.

create or replace function pawl.create_flow(
    name text, runtime text default null, priority int default 100, max_attempts int default 5,
    base interval default '1 s', factor double precision default 2, cap interval default '10 min',
    jitter double precision default 0.2, run_timeout interval default null, step_timeout interval default null,
    description text default null, input_schema json default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_answer text;
begin
    perform pawl._only_unbound('create_flow');
    v_answer := pawl.create_workflow(name, runtime, priority, max_attempts, base, factor, cap, jitter, run_timeout,
        step_timeout, false, description, input_schema => input_schema);
    if v_answer = 'created' then
        update pawl_data.workflow w set flow = true where w.name = create_flow.name;
    elsif not exists (select from pawl_data.workflow w where w.name = create_flow.name and w.flow) then
        perform pawl._raise('PW003', format('workflow "%s" is not a flow', name), 'Use a new name.');
    end if;
    return v_answer;
end
$$;
comment on function pawl.create_flow(text, text, int, int, interval, double precision, interval, double precision, interval, interval, text, json) is
'Creates a flow: a workflow whose steps are declared with add_step. The options are defaults for its steps. Answers created, exists, or differs (it exists with other options, which stay as they are: use alter_workflow).
If repeated: answers exists or differs, and never changes anything.
Locks: a new row of its name; waits for another transaction that creates the same, ten seconds at most.
Errors: PW003 for a bad name or option, or when a workflow that is no flow has the name, PW007 the role is bound to one tenant, PW008 isolation level, PW009 input_schema is over 64 kB, 64 levels or 10,000 keys.
Limits: the cost is constant.';

-- The flow, changed, so that its definition is changed by one at a time and not while it is frozen, and a first trigger whose
-- snapshot is older fails instead of freezing what it does not see.
create or replace function pawl._flow(p_name text)
returns pawl_data.workflow
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_flow pawl_data.workflow;
begin
    -- guard:flow_update
    update pawl_data.workflow w set frozen = w.frozen where w.name = p_name and w.flow returning w.* into v_flow;
    if not found then
        perform pawl._raise('PW002', format('unknown flow "%s"', p_name), 'Create it first: select pawl.create_flow(name).');
    end if;
    return v_flow;
end
$$;
comment on function pawl._flow(text) is 'the row of a flow, ours until the end of the transaction, or an error';

-- The options of a step as a row: refuses what is unknown, malformed or out of range.
create or replace function pawl._step_options(p_flow pawl_data.workflow, p_step text, p_deps text[], p_options json)
returns pawl_data.flow_step
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_step pawl_data.flow_step;
    v_unknown text;
    v_problem text;
begin
    if json_typeof(p_options) is distinct from 'object' then
        perform pawl._raise('PW003', 'options must be a JSON object');
    end if;
    select string_agg(k, ', ') into v_unknown
    from json_object_keys(p_options) k
    where k not in ('map', 'condition', 'unmet', 'failed', 'workflow', 'delay', 'undo', 'timeout', 'priority', 'max_attempts', 'base',
                    'factor', 'cap', 'jitter');
    if v_unknown is not null then
        perform pawl._raise('PW003', format('unknown option "%s" of step "%s"', v_unknown, p_step));
    end if;
    v_step.options := p_options;
    v_step.priority := (p_options ->> 'priority')::smallint;
    v_step.max_attempts := (p_options ->> 'max_attempts')::int;
    v_step.base := (p_options ->> 'base')::interval;
    v_step.factor := (p_options ->> 'factor')::double precision;
    v_step.cap := (p_options ->> 'cap')::interval;
    v_step.jitter := (p_options ->> 'jitter')::double precision;
    v_step.delay := (p_options ->> 'delay')::interval;
    v_step.condition := p_options -> 'condition';
    v_step.unmet := coalesce(p_options ->> 'unmet', 'skip');
    v_step.failed := coalesce(p_options ->> 'failed', 'fail');
    perform pawl._check_limits(coalesce(v_step.priority, 0), null, (p_options ->> 'timeout')::interval);
    perform pawl._check_policy(coalesce(v_step.max_attempts, p_flow.max_attempts), coalesce(v_step.base, p_flow.base),
        coalesce(v_step.factor, p_flow.factor), coalesce(v_step.cap, p_flow.cap), coalesce(v_step.jitter, p_flow.jitter));
    if v_step.delay < interval '0' or v_step.delay > interval '10 years' then
        perform pawl._raise('PW003', 'delay must be between 0 and ten years');
    end if;
    v_problem := pawl._match_problem(v_step.condition);
    if v_problem is not null then
        perform pawl._raise('PW003', format('condition of step "%s": %s', p_step, replace(v_problem, 'match', 'condition')));
    end if;
    if v_step.unmet not in ('skip', 'skip_all', 'fail') then
        perform pawl._raise('PW003', format('unmet must be skip, skip_all or fail, not "%s"', v_step.unmet));
    end if;
    if v_step.failed not in ('fail', 'skip', 'skip_all') then
        perform pawl._raise('PW003', format('failed must be fail, skip or skip_all, not "%s"', v_step.failed));
    end if;
    -- guard:flow_failed_map
    if v_step.failed = 'skip_all' and p_options ->> 'map' is not null then
        perform pawl._raise('PW003', format('failed of map step "%s" must be fail or skip', p_step), 'With skip, an element that fails yields null.');
    end if;
    if p_options -> 'undo' is not null and coalesce(p_options ->> 'undo', '') !~ '^[a-z0-9_.-]{1,100}$' then
        perform pawl._raise('PW003', 'undo must be the name of an undo handler');
    end if;
    if p_options ->> 'undo' is not null then
        v_step.undo := json_build_object('handler', p_options ->> 'undo');
    end if;
    if p_options ->> 'workflow' is not null then
        select w.workflow_id into v_step.child_workflow_id from pawl_data.workflow w where w.name = p_options ->> 'workflow';
        if not found then
            perform pawl._raise('PW002', format('unknown workflow "%s"', p_options ->> 'workflow'),
                'Create it first: select pawl.create_workflow(name).');
        end if;
        perform pawl._check_no_command(p_options ->> 'workflow');
    end if;
    if p_options ->> 'map' = 'run' then
        v_step.map_from := 0;
    elsif p_options ->> 'map' is not null then
        select s.step_no into v_step.map_from
        from pawl_data.flow_step s
        where s.workflow_id = p_flow.workflow_id and s.name = p_options ->> 'map' and s.name = any (p_deps);
        if not found then
            perform pawl._raise('PW003', format('map of step "%s" must be run or one of its dependencies, not "%s"', p_step,
                p_options ->> 'map'));
        end if;
    end if;
    return v_step;
end
$$;
comment on function pawl._step_options(pawl_data.workflow, text, text[], json) is 'the options of a step of a flow, checked';

create or replace function pawl.add_step(flow text, step text, deps text[] default '{}', options json default '{}')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
-- Flows are defined in one go, before anybody has counted their steps.
set enable_seqscan to off
set enable_bitmapscan to off
set enable_hashjoin to off
set enable_mergejoin to off
as $$
declare
    v_flow pawl_data.workflow;
    v_old pawl_data.flow_step;
    v_step pawl_data.flow_step;
    v_dep text;
begin
    perform pawl._only_read_committed('add_step');
    -- guard:add_step_unbound
    perform pawl._only_unbound('add_step');
    v_flow := pawl._flow(flow);
    if step is null or step !~ '^[a-z0-9_.-]{1,100}$' then
        -- guard:flow_step_name
        perform pawl._raise('PW003', format('bad step name "%s"', step), 'Use a-z, 0-9, _, . and -, at most 100 characters.');
    end if;
    if step = 'run' then
        -- guard:flow_step_run
        perform pawl._raise('PW003', 'a step cannot be named "run", which stands for the run itself');
    end if;
    deps := coalesce(deps, '{}');
    if step = any (deps) then
        -- guard:flow_cycle_self
        perform pawl._raise('PW003', format('step "%s" depends on itself', step), 'Remove the dependency: a flow has no cycles.');
    end if;
    if cardinality(deps) > (select count(distinct d) from unnest(deps) d) then
        perform pawl._raise('PW003', format('a dependency of step "%s" is named twice', step));
    end if;
    select d into v_dep
    from unnest(deps) d
    where d = 'run' or not exists (select from pawl_data.flow_step s where s.workflow_id = v_flow.workflow_id and s.name = d offset 0);
    if found then
        -- guard:flow_dep_unknown
        perform pawl._raise('PW003', format('step "%s" depends on unknown step "%s"', step, v_dep),
            'Add the steps that it depends on first.');
    end if;
    v_step := pawl._step_options(v_flow, step, deps, options);
    v_step.deps := array(
        select s.step_no from unnest(deps) with ordinality d (name, n)
        cross join lateral (
            select f.step_no from pawl_data.flow_step f where f.workflow_id = v_flow.workflow_id and f.name = d.name offset 0) s
        order by d.n);
    select s.* into v_old from pawl_data.flow_step s where s.workflow_id = v_flow.workflow_id and s.name = step;
    if found and v_old.options::jsonb = options::jsonb and v_old.deps = v_step.deps then
        return 'exists';
    elsif v_flow.frozen then
        -- guard:flow_frozen
        perform pawl._raise('PW003', format('flow "%s" has been triggered, so its steps do not change', flow), 'Use a new name.');
    elsif v_old.name is not null then
        return 'differs';
    end if;
    v_step.workflow_id := v_flow.workflow_id;
    v_step.name := step;
    v_step.step_no := 1 + coalesce((select max(s.step_no) from pawl_data.flow_step s where s.workflow_id = v_flow.workflow_id), 0);
    if v_step.step_no > 2000 then
        -- guard:flow_steps_max
        perform pawl._raise('PW009', format('flow "%s" has 2000 steps, which is the limit', flow), 'Let a step run another flow.');
    end if;
    v_step.spreads := v_step.condition is not null and v_step.unmet = 'skip_all' or v_step.failed = 'skip_all' or exists (
        select from pawl_data.flow_step s where s.workflow_id = v_flow.workflow_id and s.step_no = any (v_step.deps) and s.spreads);
    v_step.plain := not v_step.spreads and v_step.map_from is null and v_step.condition is null
        and v_step.child_workflow_id is null and v_step.delay is null;
    v_step.heavy_deps := pawl._heavy_among(v_flow.workflow_id, v_step.deps);
    if v_step.child_workflow_id is null then
        insert into pawl_data.queue (name, workflow_id, step_timeout)
        values (flow || '/' || step, v_flow.workflow_id, coalesce((options ->> 'timeout')::interval, v_flow.step_timeout))
        returning queue_id into v_step.queue_id;
        perform nextval('pawl_data.queue_version');
    end if;
    insert into pawl_data.flow_step select v_step.*;
    insert into pawl_data.flow_edge (workflow_id, step_no, dependent_no)
    select v_flow.workflow_id, d, v_step.step_no from unnest(v_step.deps) d;
    return 'created';
end
$$;
comment on function pawl.add_step(text, text, text[], json) is
'Adds a step to a flow. deps names steps that were added before; their outputs are part of its input, {"run": input of the run, "DEP": output of that step, ...}. Options, all of them optional: map (run, or a dependency: one task for each element of that array, whose input is {"run", "item", "index"}), condition (an object of at most four JSON pointers into the input and scalars, such as {"/run/kind": "web"}), unmet (skip, skip_all to skip its dependents as well, fail), failed (what becomes of a step that fails after its last attempt: fail, the default, also fails the run; skip gives its dependents null and lets the run continue; skip_all skips them as well, not for maps; an element of a map that is skipped yields null), workflow (the step is a child run of this workflow), undo (an undo handler for the rollback), delay, timeout, priority, and the retry policy max_attempts, base, factor, cap, jitter. Answers created, exists, or differs (the step exists with other options, which stay).
If repeated: answers exists.
Locks: the row of the flow.
Errors: PW002 unknown flow or workflow, PW003 bad name, dependency or option, or the flow was triggered before: use a new name, PW007 the role is bound to one tenant, PW008 isolation level, PW009 more than 2,000 steps; 22xxx a value that is not of its type.
Limits: the cost is constant, and the number of dependencies.';

create or replace function pawl._heavy_among(p_workflow int, p_steps int[])
returns int[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array(
        select s.step_no from pawl_data.flow_step s
        where s.workflow_id = p_workflow and s.step_no = any (p_steps) and (s.map_from is not null or s.child_workflow_id is not null)
        order by s.step_no);
end
$$;
comment on function pawl._heavy_among(int, int[]) is 'which of these steps of a flow may yield more than a payload';

-- The first trigger: from now on the steps do not change. Writes the end of the run as step 0.
create or replace function pawl._freeze_flow(p_workflow int)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_flow pawl_data.workflow;
    v_leaves int[];
begin
    select w.* into v_flow from pawl_data.workflow w where w.workflow_id = p_workflow for update;
    if v_flow.frozen then
        return;
    end if;
    v_leaves := array(
        select s.step_no from pawl_data.flow_step s
        where s.workflow_id = p_workflow
          and not exists (select from pawl_data.flow_edge e where e.workflow_id = p_workflow and e.step_no = s.step_no)
        order by s.step_no);
    insert into pawl_data.flow_step (workflow_id, step_no, name, deps, plain, heavy_deps, options)
    values (p_workflow, 0, 'run', v_leaves, false, pawl._heavy_among(p_workflow, v_leaves), '{}');
    insert into pawl_data.flow_edge (workflow_id, step_no, dependent_no)
    select p_workflow, d, 0 from unnest(v_leaves) d;
    update pawl_data.workflow w set frozen = true where w.workflow_id = p_workflow;
end
$$;
comment on function pawl._freeze_flow(int) is 'freezes a flow at its first trigger';

create or replace function pawl.delete_flow(name text)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_flow pawl_data.workflow;
begin
    perform pawl._only_read_committed('delete_flow');
    perform pawl._only_unbound('delete_flow');
    select w.* into v_flow from pawl_data.workflow w where w.name = delete_flow.name and w.flow for update;
    if not found then
        return 'not_found';
    end if;
    if v_flow.frozen or exists (select from pawl_data.flow_step s where s.child_workflow_id = v_flow.workflow_id) then
        return 'refused';
    end if;
    delete from pawl_data.flow_edge e where e.workflow_id = v_flow.workflow_id;
    delete from pawl_data.flow_step s where s.workflow_id = v_flow.workflow_id;
    delete from pawl_data.queue q where q.workflow_id = v_flow.workflow_id;
    delete from pawl_data.input_schema i where i.workflow_id = v_flow.workflow_id;
    delete from pawl_data.workflow w where w.workflow_id = v_flow.workflow_id;
    perform nextval('pawl_data.queue_version');
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'delete_flow', pawl._by(null), json_build_object('flow', name));
    return 'ok';
end
$$;
comment on function pawl.delete_flow(text) is
'Deletes a flow that was never triggered. Answers ok, refused (it was triggered, or a step of another flow runs it as a child), not_found.
If repeated: answers not_found.
Locks: the row of the flow.
Errors: PW007 the role is bound to one tenant, PW008 isolation level.
Limits: the steps of the flow.';

create or replace function pawl.list_steps(flow text)
returns table (step text, deps text[], handler text, child text, options json, leaf boolean, frozen boolean)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform pawl._bound_tenant('list_steps');
    if not exists (select from pawl_data.workflow w where w.name = list_steps.flow and w.flow) then
        perform pawl._raise('PW002', format('unknown flow "%s"', flow));
    end if;
    return query
    select s.name, pawl._dep_names(s),
           q.name, c.name, s.options,
           not exists (select from pawl_data.flow_edge e where e.workflow_id = s.workflow_id and e.step_no = s.step_no and e.dependent_no > 0),
           w.frozen
    from pawl_data.workflow w
    join pawl_data.flow_step s on s.workflow_id = w.workflow_id
    left join pawl_data.queue q on q.queue_id = s.queue_id
    left join pawl_data.workflow c on c.workflow_id = s.child_workflow_id
    where w.name = list_steps.flow and s.step_no > 0
    order by s.step_no;
end
$$;
comment on function pawl.list_steps(text) is
'The steps of a flow in the order they were added, with what they depend on, who handles them, and their options.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW002 unknown flow.
Limits: 2,000 rows.';

