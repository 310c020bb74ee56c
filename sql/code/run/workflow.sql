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

create or replace function pawl._check_input_schema(p_schema json)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_problem text := pawl._payload_problem(p_schema::text, 65536);
begin
    if p_schema is null then
        return;
    end if;
    if v_problem is not null then
        -- guard:input_schema_limits
        perform pawl._raise('PW009', replace(v_problem, 'payload', 'input_schema'), 'Describe the most important fields only.');
    end if;
    if json_typeof(p_schema) <> 'object' then
        -- guard:input_schema_object
        perform pawl._raise('PW003', 'input_schema must be a JSON object', 'It is a JSON Schema, such as {"type": "object", "properties": {}}.');
    end if;
    begin
        perform p_schema::jsonb;
    exception
        -- Such as \u0000: later calls could not compare it with another.
        -- guard:input_schema_readable
        when data_exception then
            perform pawl._raise('PW003', format('input_schema: %s', sqlerrm));
    end;
end
$$;
comment on function pawl._check_input_schema(json) is 'refuses an input_schema that is no object or too large';

-- Stores the input_schema of a workflow; null removes it.
create or replace function pawl._set_input_schema(p_workflow int, p_schema json)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_input_schema(p_schema);
    if p_schema is null then
        delete from pawl_data.input_schema s where s.workflow_id = p_workflow;
    else
        insert into pawl_data.input_schema (workflow_id, input_schema) values (p_workflow, p_schema)
        on conflict on constraint input_schema_pkey do update set input_schema = excluded.input_schema;
    end if;
end
$$;
comment on function pawl._set_input_schema(int, json) is 'stores the input_schema of a workflow';

create or replace function pawl._input_schema(p_workflow int)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (select s.input_schema from pawl_data.input_schema s where s.workflow_id = p_workflow);
end
$$;
comment on function pawl._input_schema(int) is 'the input_schema of a workflow, or null';

create or replace function pawl.create_workflow(
    name text, runtime text default null, priority int default 100, max_attempts int default 5,
    base interval default '1 s', factor double precision default 2, cap interval default '10 min',
    jitter double precision default 0.2, run_timeout interval default null, step_timeout interval default null,
    strict_order boolean default false, description text default null, key_limit int default null, fair boolean default false,
    input_schema json default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '10s'
as $$
declare
    v_old pawl_data.workflow;
    v_new pawl_data.workflow;
    v_queue int;
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
    perform pawl._check_input_schema(input_schema);
    select w.* into v_old from pawl_data.workflow w where w.name = create_workflow.name;
    if not found then
        -- Creators of the same name queue up here, so that the second sees what the first did.
        v_queue := pawl._hold_name(create_workflow.name);
        select w.* into v_old from pawl_data.workflow w where w.name = create_workflow.name;
    end if;
    if v_old.workflow_id is not null then
        if (v_old.runtime, v_old.priority, v_old.max_attempts, v_old.base, v_old.factor, v_old.cap, v_old.jitter,
            v_old.run_timeout, v_old.step_timeout, v_old.strict_order, v_old.key_limit, v_old.fair)
           is distinct from
           (runtime, priority::smallint, max_attempts, base, factor, cap, jitter, run_timeout, step_timeout, strict_order, key_limit,
            fair is true)
           -- guard:input_schema_differs
           or pawl._input_schema(v_old.workflow_id)::jsonb is distinct from input_schema::jsonb then
            return 'differs';
        end if;
        return 'exists';
    end if;
    insert into pawl_data.workflow (name, queue_id, runtime, priority, max_attempts, base, factor, cap, jitter, run_timeout,
                               step_timeout, strict_order, key_limit, fair, laned, description, created_at)
    values (create_workflow.name, v_queue, create_workflow.runtime, create_workflow.priority, create_workflow.max_attempts,
            create_workflow.base, create_workflow.factor, create_workflow.cap, create_workflow.jitter,
            create_workflow.run_timeout, create_workflow.step_timeout, create_workflow.strict_order,
            create_workflow.key_limit, create_workflow.fair is true, create_workflow.key_limit is not null or create_workflow.fair is true,
            create_workflow.description, pawl.now())
    returning * into v_new;
    -- guard:create_key_limit
    perform pawl._check_key_limit(v_new);
    update pawl_data.queue set workflow_id = v_new.workflow_id, step_timeout = create_workflow.step_timeout where queue_id = v_queue;
    if v_new.laned then
        perform pawl._set_key_limit(v_new, pawl.now());
    end if;
    if input_schema is not null then
        perform pawl._set_input_schema(v_new.workflow_id, input_schema);
    end if;
    perform nextval('pawl_data.queue_version');
    return 'created';
end
$$;
comment on function pawl.create_workflow(text, text, int, int, interval, double precision, interval, double precision, interval, interval, boolean, text, int, boolean, json) is
'Creates a workflow and its queue. Answers created, exists, or differs (it exists with other options, which stay as they are: use alter_workflow, which explains key_limit and fair). The description is not compared. input_schema is a JSON Schema that describes the input of its runs: get_workflow shows it, for forms and for people. The engine compares no input with it.
If repeated: answers exists or differs, and never changes anything.
Locks: a new row of its name; waits for another transaction that creates the same, ten seconds at most.
Errors: PW003 for a bad name or option, PW007 the role is bound to one tenant, PW008 isolation level, PW009 input_schema is over 64 kB, 64 levels or 10,000 keys; 55P03 another transaction is creating it: call it again.
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
    perform pawl._check_rate(p_workflow.key_rate, p_workflow.key_burst);
    if p_workflow.limit_while is null or p_workflow.limit_while not in ('held', 'run') then
        -- guard:limit_while_form
        perform pawl._raise('PW003', 'limit_while must be held or run');
    end if;
    if p_workflow.flow and (p_workflow.key_limit is not null or p_workflow.key_rate is not null or p_workflow.fair) then
        -- A run of a flow is many tasks, each of which would be counted.
        -- guard:key_limit_flow
        perform pawl._raise('PW003', format('"%s" is a flow, which cannot have a key_limit or a key_rate, or be fair', p_workflow.name),
            'Set the limit for a workflow, and let a step of the flow be a child run of it.');
    end if;
end
$$;
comment on function pawl._check_key_limit(pawl_data.workflow) is 'refuses a limit or rate that is out of range';

-- The caller has locked the workflow.
create or replace function pawl._set_key_limit(p_workflow pawl_data.workflow, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.lane_queue (queue_id, key_limit, key_rate, key_burst, while_run)
    values (p_workflow.queue_id, p_workflow.key_limit, p_workflow.key_rate, p_workflow.key_burst, p_workflow.limit_while = 'run')
    on conflict on constraint lane_queue_pkey do update
    set key_limit = excluded.key_limit, key_rate = excluded.key_rate, key_burst = excluded.key_burst, while_run = excluded.while_run;
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
comment on function pawl._set_key_limit(pawl_data.workflow, timestamptz) is 'gives the lanes of a workflow another limit or rate';

-- Gives a workflow, which the caller has locked, the limit that options name: limit alone is of this workflow, or changes the one that it
-- shares; limit_name shares one with other workflows.
create or replace function pawl._set_held_limit(p_workflow pawl_data.workflow, p_options json, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
-- A claim that stays open holds the limit.
set lock_timeout to '2s'
as $$
declare
    v_most int := (p_options ->> 'limit')::int;
    v_old pawl_data.held_limit;
    v_name text;
    v_no int;
begin
    select l.* into v_old
    from pawl_data.lane_queue q join pawl_data.held_limit l on l.limit_no = q.limit_no
    where q.queue_id = p_workflow.queue_id;
    v_name := case when (p_options -> 'limit_name') is not null then p_options ->> 'limit_name'
                   -- Without a limit there is nothing to share.
                   when (p_options -> 'limit') is not null and v_most is null then null else v_old.name end;
    if v_most not between 1 and 100000 then
        -- guard:held_limit_range
        perform pawl._raise('PW003', 'limit must be between 1 and 100000', 'Without a limit it is null.');
    end if;
    if v_name = '' or length(v_name) > 200 or v_name is not null and (p_options -> 'limit') is not null and v_most is null then
        -- guard:limit_name_form
        perform pawl._raise('PW003', 'limit_name must have 1 to 200 characters, and needs a limit', 'Without a shared limit it is null.');
    end if;
    -- 1. A takes the last workflow of a limit away from it. 2. B gives the limit to another workflow. Without the lock A would delete the limit, and
    -- the workflow of B would have none. In one statement and in this order, so that two calls that exchange limits do not deadlock.
    -- guard:limit_kept
    perform from pawl_data.held_limit l where l.limit_no = v_old.limit_no or l.name = v_name order by l.limit_no for update;
    if v_name is not null then
        if v_most is not null then
            insert into pawl_data.held_limit as l (name, most) values (v_name, v_most)
            on conflict on constraint held_limit_name_is_unique do update set most = excluded.most
            returning l.limit_no into v_no;
        else
            select l.limit_no into v_no from pawl_data.held_limit l where l.name = v_name;
            if not found then
                -- guard:limit_name_known
                perform pawl._raise('PW003', format('no workflow has a limit with the name "%s"', v_name), 'Give its limit, too.');
            end if;
        end if;
        if (select count(*) from pawl_data.lane_queue q where q.limit_no = v_no and q.queue_id <> p_workflow.queue_id) >= 100 then
            -- guard:limit_shared_max
            perform pawl._raise('PW009', format('100 workflows share limit "%s"', v_name));
        end if;
    elsif v_most is not null then
        if v_old.limit_no is not null and v_old.name is null then
            update pawl_data.held_limit l set most = v_most where l.limit_no = v_old.limit_no returning l.limit_no into v_no;
        else
            insert into pawl_data.held_limit (most) values (v_most) returning limit_no into v_no;
        end if;
    end if;
    update pawl_data.lane_queue q set limit_no = v_no where q.queue_id = p_workflow.queue_id;
    -- guard:limit_given_up
    delete from pawl_data.held_limit l
    where l.limit_no = v_old.limit_no and not exists (select from pawl_data.lane_queue q where q.limit_no = l.limit_no);
    perform pawl._wake_limit(p_workflow.queue_id, p_now);
end
$$;
comment on function pawl._set_held_limit(pawl_data.workflow, json, timestamptz) is 'gives a workflow a limit of all its runs';

-- Options as the action that is recorded names them: a page of list_actions would be many megabytes if each had a schema.
create or replace function pawl._brief_options(p_options json)
returns json
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if (p_options ->> 'input_schema') is null then
        return p_options;
    end if;
    -- guard:brief_options
    return (
        select json_object_agg(o.key, case when o.key = 'input_schema' then to_json(format('%s bytes', octet_length(o.value::text))) else o.value end)
        from json_each(p_options) o);
end
$$;
comment on function pawl._brief_options(json) is 'options with the size of an input_schema instead of it';

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
    v_limits boolean;
begin
    perform pawl._only_read_committed('alter_workflow');
    perform pawl._only_unbound('alter_workflow');
    if json_typeof(options) is distinct from 'object' then
        perform pawl._raise('PW003', 'options must be a JSON object');
    end if;
    select string_agg(k, ', ') into v_unknown
    from json_object_keys(options) k
    where k not in ('runtime', 'priority', 'max_attempts', 'base', 'factor', 'cap', 'jitter', 'run_timeout',
                    'step_timeout', 'strict_order', 'limit', 'limit_name', 'limit_while', 'key_limit', 'key_rate', 'key_burst', 'fair', 'expires', 'description',
                    'input_schema');
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
    perform pawl._check_expires(v_new.expires);
    v_limits := (options -> 'limit') is not null or (options -> 'limit_name') is not null;
    if v_limits and v_old.flow then
        -- guard:held_limit_flow
        perform pawl._raise('PW003', format('"%s" is a flow, which cannot have a limit', name),
            'Set the limit for a workflow, and let a step of the flow be a child run of it.');
    end if;
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
        step_timeout = v_new.step_timeout, strict_order = v_new.strict_order, key_limit = v_new.key_limit, key_rate = v_new.key_rate,
        key_burst = v_new.key_burst, limit_while = v_new.limit_while, fair = v_new.fair, expires = v_new.expires,
        laned = w.laned or v_new.key_limit is not null or v_new.key_rate is not null or v_new.fair or v_limits, description = v_new.description
    where w.workflow_id = v_old.workflow_id;
    if (v_new.key_limit, v_new.key_rate, v_new.key_burst) is distinct from (v_old.key_limit, v_old.key_rate, v_old.key_burst)
       or v_new.fair and not v_old.fair or v_limits and not v_old.laned or v_new.limit_while <> v_old.limit_while and v_old.laned then
        perform pawl._set_key_limit(v_new, pawl.now());
    end if;
    if v_limits then
        perform pawl._set_held_limit(v_new, options, pawl.now());
    end if;
    if (options -> 'input_schema') is not null then
        perform pawl._set_input_schema(v_old.workflow_id, case when options ->> 'input_schema' is not null then options -> 'input_schema' end);
    end if;
    update pawl_data.queue q set step_timeout = v_new.step_timeout
    where q.workflow_id = v_old.workflow_id
      -- A step of a flow may have its own limit.
      and not exists (
          select from pawl_data.flow_step s
          where s.workflow_id = v_old.workflow_id and s.queue_id = q.queue_id and s.options ->> 'timeout' is not null);
    perform nextval('pawl_data.queue_version');
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'alter_workflow', pawl._by(null), json_build_object('workflow', name, 'options', pawl._brief_options(options)));
end
$$;
comment on function pawl.alter_workflow(text, json) is
'Changes options of a workflow, given as a JSON object: arguments of create_workflow, and those that follow. key_limit: how many runs with the same tenant and limit_key workers may hold at a time (1 to 100000; null: any number). Runs without a limit_key count together, for each tenant. A run that waits (for a retry, a sleep, an event) is not held. Workers get no run above the limit; runs that are held when it is lowered go on. Those that are held when it is set for the first time go on, too, and do not count: until they end, workers hold up to the limit besides them. key_rate: how many runs with the same tenant and limit_key may start, such as 5/s, 10/min, 100/h or 1/day, and key_burst: how many of these at once (1 to 10000; null: 1). In any stretch of time no more start than the rate allows in it, and the burst. The first claim of each round counts; a run that continues after a wait, a failed attempt or a lost worker needs no start. limit: how many runs of the workflow workers may hold at a time, whatever their key (1 to 100000; null: any number). limit_name: several workflows share one limit; the first names it with limit, and limit of any of them changes it. limit_while: held (the default), or run: a run counts for key_limit and limit from its first claim until it ends, also while it sleeps, waits or is to be repeated. With key_limit 1 runs with one key are then executed in their order, by priority and time, and none begins before the one before it has ended. fair: tenants and limit keys take turns, so that the backlog of one keeps no other waiting; the workflow keeps this after false. A flow has no limit, no key_limit and no key_rate, and is not fair. expires: a run triggered from now on that no worker claims within this time from when it is due ends CANCELLED, with the error expired (null: never). Runs that wait keep their place and their priority; the new policy counts from the next failure on, a new run_timeout for runs triggered from now on. To move a workflow to another runtime, set runtime: no producer notices.
If repeated: sets the same options again.
Locks: the row of the workflow; with limit or limit_name that of the limit, two seconds at most.
Errors: PW002 unknown workflow, PW003 unknown option, or a policy, limit or rate out of range, PW008 isolation level, PW009 100 workflows share the limit, or input_schema is over 64 kB, 64 levels or 10,000 keys; 55P03 a claim that stays open holds the limit: call it again; 22xxx a value that is not of its type, PW007 the role is bound to one tenant.
Limits: the cost is constant; with key_limit or key_rate also a row for each lane of the workflow that is not empty, and for each hint that a claim has not taken yet.';
