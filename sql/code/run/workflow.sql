-- SPDX-License-Identifier: Apache-2.0
-- Definitions: create, alter.

create or replace function pawl._check_policy(p_max_attempts int, p_base interval, p_factor double precision, p_cap interval,
                                   p_jitter double precision)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- A null makes the whole condition null.
    if coalesce(p_max_attempts < 1 or p_base < interval '0' or p_factor < 1 or p_cap < interval '0' or p_jitter < 0
                or p_jitter > 1 or p_max_attempts > 1000000 or p_factor > 1000 or p_cap > interval '10 years'
                or p_base > interval '10 years', true) then
        -- guard:policy_range
        perform pawl._raise('PW003', 'retry policy out of range',
            'max_attempts from 1 to 1000000, base and cap from 0 to ten years, factor from 1 to 1000, jitter from 0 to 1.');
    end if;
    if p_base > p_cap then
        -- 1. An operator sets base to an hour, and leaves cap at ten minutes. 2. A step fails. Without the error its next attempt would
        -- silently begin after ten minutes.
        -- guard:base_within_cap
        perform pawl._raise('PW003', format('base (%s) is more than cap (%s)', p_base, p_cap), 'Set a larger cap, or a smaller base.');
    end if;
end
$$;
comment on function pawl._check_policy(int, interval, double precision, interval, double precision) is 'refuses an invalid retry policy';

create or replace function pawl._check_limits(p_priority int, p_run_timeout interval, p_step_timeout interval)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_priority is null or p_priority < 0 or p_priority > 32767 then
        perform pawl._raise('PW003', 'priority must be between 0 and 32767');
    end if;
    if p_run_timeout <= interval '0' or p_run_timeout > interval '10 years' or p_step_timeout <= interval '0'
       or p_step_timeout > interval '10 years' then
        -- guard:timeout_range
        perform pawl._raise('PW003', 'a timeout must be more than 0 and at most ten years');
    end if;
end
$$;
comment on function pawl._check_limits(int, interval, interval) is 'refuses an invalid priority or time limit';

create or replace function pawl._check_runtime(p_runtime text)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_runtime = '' then
        -- 1. A script passes an empty variable as the runtime. 2. Runs are triggered. No worker offers a runtime without a name, so that
        -- without the error no worker would ever claim one of them.
        -- guard:runtime_name
        perform pawl._raise('PW003', 'runtime must not be empty', 'Give the name of a runtime, or null for any worker.');
    end if;
end
$$;
comment on function pawl._check_runtime(text) is 'refuses a runtime without a name';

create or replace function pawl.create_workflow(
    name text, runtime text default null, priority int default 100, max_attempts int default 5,
    base interval default '1 s', factor double precision default 2, cap interval default '10 min',
    jitter double precision default 0.2, run_timeout interval default null, step_timeout interval default null,
    strict_order boolean default false, description text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '10s'
as $$
declare
    v_old pawl_data.workflow;
    v_queue int;
    v_workflow int;
begin
    perform pawl._only_read_committed('create_workflow');
    -- The first caller that takes a name sets its options for every tenant, so a role that is bound to one tenant must not.
    -- guard:create_workflow_unbound
    perform pawl._only_unbound('create_workflow');
    if name is null or name !~ '^[a-z0-9_-]+([.][a-z0-9_-]+)*$' or length(name) > 200 then
        -- guard:workflow_name
        perform pawl._raise('PW003', format('bad workflow name "%s"', name),
            'Names are dotted and lower case, of a-z, 0-9, _ and -, at most 200 characters: billing.invoice.v1');
    end if;
    perform pawl._check_runtime(runtime);
    perform pawl._check_limits(priority, run_timeout, step_timeout);
    perform pawl._check_policy(max_attempts, base, factor, cap, jitter);
    select w.* into v_old from pawl_data.workflow w where w.name = create_workflow.name;
    if not found then
        -- Creators of the same name queue up here, so that the second sees what the first did.
        v_queue := pawl._hold_name(create_workflow.name);
        select w.* into v_old from pawl_data.workflow w where w.name = create_workflow.name;
    end if;
    if v_old.workflow_id is not null then
        if (v_old.runtime, v_old.priority, v_old.max_attempts, v_old.base, v_old.factor, v_old.cap, v_old.jitter,
            v_old.run_timeout, v_old.step_timeout, v_old.strict_order)
           is distinct from
           (runtime, priority::smallint, max_attempts, base, factor, cap, jitter, run_timeout, step_timeout, strict_order) then
            return 'differs';
        end if;
        return 'exists';
    end if;
    insert into pawl_data.workflow (name, queue_id, runtime, priority, max_attempts, base, factor, cap, jitter, run_timeout,
                               step_timeout, strict_order, description, created_at)
    values (create_workflow.name, v_queue, create_workflow.runtime, create_workflow.priority, create_workflow.max_attempts,
            create_workflow.base, create_workflow.factor, create_workflow.cap, create_workflow.jitter,
            create_workflow.run_timeout, create_workflow.step_timeout, create_workflow.strict_order,
            create_workflow.description, pawl.now())
    returning workflow_id into v_workflow;
    update pawl_data.queue set workflow_id = v_workflow, step_timeout = create_workflow.step_timeout where queue_id = v_queue;
    perform nextval('pawl_data.queue_version');
    return 'created';
end
$$;
comment on function pawl.create_workflow(text, text, int, int, interval, double precision, interval, double precision, interval, interval, boolean, text) is
'Creates a workflow and its queue. Answers created, exists, or differs (it exists with other options, which stay as they are: use alter_workflow). The description is not compared.
If repeated: answers exists or differs, and never changes anything.
Locks: a new row of its name; waits for another transaction that creates the same, ten seconds at most.
Errors: PW003 for a bad name or option, PW007 the role is bound to one tenant, PW008 isolation level; 55P03 another transaction is creating it: call it again.
Limits: the cost is constant.';

-- Makes the queue of a new workflow, which has its name, and with it holds the name until the end of the transaction. Returns null if
-- another transaction has created the workflow in the meantime.
create or replace function pawl._hold_name(p_name text)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_queue int;
begin
    -- guard:hold_name
    insert into pawl_data.queue as q (name, workflow_id) values (p_name, 0)
    -- A queue without a workflow is this transaction's own.
    on conflict on constraint queue_name_is_unique do update set workflow_id = q.workflow_id where q.workflow_id = 0
    returning q.queue_id into v_queue;
    return v_queue;
end
$$;
comment on function pawl._hold_name(text) is 'makes the queue of a new workflow';

create or replace function pawl._check_key_limit(p_workflow pawl_data.workflow)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_workflow.key_limit not between 1 and 100000 then
        -- guard:key_limit_range
        perform pawl._raise('PW003', 'key_limit must be between 1 and 100000', 'Without a limit it is null.');
    end if;
    if p_workflow.flow and (p_workflow.key_limit is not null or p_workflow.fair) then
        -- A run of a flow is many tasks, each of which would be counted.
        -- guard:key_limit_flow
        perform pawl._raise('PW003', format('"%s" is a flow, which cannot have a key_limit or be fair', p_workflow.name),
            'Set the limit for a workflow, and let a step of the flow be a child run of it.');
    end if;
end
$$;
comment on function pawl._check_key_limit(pawl_data.workflow) is 'refuses a limit that is out of range';

-- The caller has locked the workflow.
create or replace function pawl._set_key_limit(p_workflow pawl_data.workflow, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.lane_queue (queue_id, key_limit) values (p_workflow.queue_id, p_workflow.key_limit)
    on conflict on constraint lane_queue_pkey do update set key_limit = excluded.key_limit;
    -- 1. Lanes are full. 2. The limit is raised. Without deltas no claim would visit them until one of their tasks has ended.
    -- guard:limit_raised
    insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
    select l.queue_id, l.lane, 'f', l.tenant, l.limit_key from pawl_data.lane l where l.queue_id = p_workflow.queue_id and l.state <> 'e'
    union
    -- 1. A claim has visited a lane that was empty, or new, has read the older limit, and stays in its transaction. 2. The limit is raised.
    -- 3. The claim commits: the lane is full by the older limit. Here the lane seems empty, or is not there, but the delta that led the claim
    -- to it is.
    -- guard:limit_raised_meanwhile
    select d.queue_id, d.lane, 'f', d.tenant, d.limit_key from pawl_data.lane_delta d where d.queue_id = p_workflow.queue_id;
    -- guard:limit_raised_wakes
    perform pawl._wake_one(p_workflow.queue_id, l.tenant, p_now)
    from (
        select distinct case when s.tenants_bound then l.tenant else '' end as tenant
        from pawl_data.setting s
        join pawl_data.lane l on l.queue_id = p_workflow.queue_id and l.state <> 'e'
        where s.only_row
        limit 32
    ) l;
end
$$;
comment on function pawl._set_key_limit(pawl_data.workflow, timestamptz) is 'gives the lanes of a workflow another limit';

create or replace function pawl.alter_workflow(name text, options json)
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_old pawl_data.workflow;
    v_new pawl_data.workflow;
    v_unknown text;
begin
    perform pawl._only_read_committed('alter_workflow');
    perform pawl._only_unbound('alter_workflow');
    if json_typeof(options) is distinct from 'object' then
        perform pawl._raise('PW003', 'options must be a JSON object');
    end if;
    select string_agg(k, ', ') into v_unknown
    from json_object_keys(options) k
    where k not in ('runtime', 'priority', 'max_attempts', 'base', 'factor', 'cap', 'jitter', 'run_timeout',
                    'step_timeout', 'strict_order', 'key_limit', 'fair', 'description');
    if v_unknown is not null then
        perform pawl._raise('PW003', format('unknown option "%s"', v_unknown));
    end if;
    select w.* into v_old from pawl_data.workflow w where w.name = alter_workflow.name for update;
    if not found then
        perform pawl._raise('PW002', format('unknown workflow "%s"', name), 'Create it with pawl.create_workflow.');
    end if;
    v_new := json_populate_record(v_old, options);
    perform pawl._check_runtime(v_new.runtime);
    perform pawl._check_limits(v_new.priority, v_new.run_timeout, v_new.step_timeout);
    perform pawl._check_policy(v_new.max_attempts, v_new.base, v_new.factor, v_new.cap, v_new.jitter);
    perform pawl._check_key_limit(v_new);
    -- 1. A step of a flow sets base to five minutes; its cap is the flow's. 2. An operator sets cap of the flow to one minute. Without the
    -- test base of the step would be above its cap.
    -- guard:base_within_cap_of_steps
    perform pawl._check_policy(p.max_attempts, p.base, p.factor, p.cap, p.jitter)
    from pawl_data.flow_step s
    cross join lateral pawl._step_policy(v_new, s.step_no) p
    where s.workflow_id = v_old.workflow_id;
    update pawl_data.workflow w
    set runtime = v_new.runtime, priority = v_new.priority, max_attempts = v_new.max_attempts, base = v_new.base,
        factor = v_new.factor, cap = v_new.cap, jitter = v_new.jitter, run_timeout = v_new.run_timeout,
        step_timeout = v_new.step_timeout, strict_order = v_new.strict_order, key_limit = v_new.key_limit, fair = v_new.fair,
        laned = w.laned or v_new.key_limit is not null or v_new.fair, description = v_new.description
    where w.workflow_id = v_old.workflow_id;
    if v_new.key_limit is distinct from v_old.key_limit or v_new.fair and not v_old.fair then
        perform pawl._set_key_limit(v_new, pawl.now());
    end if;
    update pawl_data.queue q set step_timeout = v_new.step_timeout
    where q.workflow_id = v_old.workflow_id
      -- A step of a flow may have its own limit.
      and not exists (
          select from pawl_data.flow_step s
          where s.workflow_id = v_old.workflow_id and s.queue_id = q.queue_id and s.options ->> 'timeout' is not null);
    perform nextval('pawl_data.queue_version');
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'alter_workflow', pawl._caller(), json_build_object('workflow', name, 'options', options));
end
$$;
comment on function pawl.alter_workflow(text, json) is
'Changes options of a workflow, given as a JSON object with the names of the arguments of create_workflow, and key_limit: how many runs with the same tenant and limit_key workers may hold at a time (1 to 100000; null: any number). Runs without a limit_key count together, for each tenant. A run that waits (for a retry, a sleep, an event) is not held. Workers get no run above the limit; runs that are held when it is lowered go on. Those that are held when it is set for the first time go on, too, and do not count: until they end, workers hold up to the limit besides them. fair: tenants and limit keys take turns, so that the backlog of one keeps no other waiting; the workflow keeps this after false. A flow has no key_limit and is not fair. Runs that wait keep their place and their priority; the new policy counts from the next failure on, a new run_timeout for runs triggered from now on. To move a workflow to another runtime, set runtime: no producer notices.
If repeated: sets the same options again.
Locks: the row of the workflow.
Errors: PW002 unknown workflow, PW003 unknown option, or a policy or limit out of range, PW008 isolation level; 22xxx a value that is not of its type, PW007 the role is bound to one tenant.
Limits: the cost is constant; with key_limit also a row for each lane of the workflow that is not empty, and for each hint that a claim has not taken yet.';
