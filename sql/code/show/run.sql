-- SPDX-License-Identifier: Apache-2.0
-- Reading: the state of a run, a run with its steps, history, waits, queues, workers, metrics. Lists of runs are in search.sql.

-- The one place where the shown state is computed: from the claimable row, the holder's lease and the time.
create or replace function pawl._state(
    p_place "char", p_due_at timestamptz, p_lease_until timestamptz, p_now timestamptz)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case
        when p_place = 'h' and p_lease_until >= p_now then 'RUNNING'
        when p_place = 'w' and p_due_at > p_now then 'PAUSED'
        else 'QUEUED' end;
end
$$;
comment on function pawl._state("char", timestamptz, timestamptz, timestamptz) is 'the shown state of a run that has not ended';

-- Returns the task that stands for a run of a flow: held by a live worker, ready, or the first that is due.
create or replace function pawl._shown_task(p_run uuid, p_now timestamptz)
returns setof pawl_data.task
language plpgsql
stable
strict
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select t.*
    from pawl_data.task t
    left join pawl_data.worker w on w.session_id = t.session_id
    where t.run_id = p_run and t.task_no > 0
    -- guard:shown_live
    order by (t.place = 'h' and pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now)) is not true, t.place = 'w', t.due_at, t.task_no
    limit 1;
end
$$;
comment on function pawl._shown_task(uuid, timestamptz) is 'the task that stands for a run of a flow';

-- The first line of an error: its message, or that of the error inside it, or its code.
create or replace function pawl._error_line(p_error json, p_max int)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if json_typeof(p_error) <> 'object' then
        return left(split_part(p_error #>> '{}', chr(10), 1), p_max);
    end if;
    return left(split_part(coalesce(p_error ->> 'message', p_error #>> '{error,message}', p_error ->> 'code'), chr(10), 1), p_max);
end
$$;
comment on function pawl._error_line(json, int) is 'the first line of an error';

-- The error of the failed attempt that is repeated first.
create or replace function pawl._next_retry_error(p_retries json)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (select e.value -> 'error' from json_each(p_retries) e order by (e.value ->> 'due')::timestamptz, e.key limit 1);
end
$$;
comment on function pawl._next_retry_error(json) is 'the error of the failed attempt that is repeated first';

-- Everything about a run that a reader may want in a list, from the hot set or from history.
create or replace function pawl._overview(p_ids uuid[], p_now timestamptz, p_verb text)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, execution int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant(p_verb);
begin
    -- With no ids the condition below is always false, and the planner may take any index for it, and read all of it.
    if cardinality(p_ids) = 0 then
        return;
    end if;
    return query
    with live as (
        -- A run of a flow is shown as the task of it that is furthest, or as the first that is due.
        select t.run_id, q.name, t.tenant,
               case when t.place = 'o' and f.task_no is null then 'PAUSED'
                    else pawl._state(coalesce(f.place, t.place), coalesce(f.due_at, t.due_at),
                                     case when pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now) then w.lease_until end,
                                     p_now) end as status,
               case when t.place = 'o' and f.task_no is null then 'child'
                    when coalesce(f.place, t.place) = 'w' and coalesce(f.due_at, t.due_at) > p_now then coalesce(f.reason, t.reason)
                    when t.place = 'l' then pawl._lane_reason(t.queue_id, pawl._lane_of(t.tenant, t.limit_key)) end,
               t.round::int, greatest(t.execution, f.execution), t.priority::int, t.key, t.triggered_at,
               coalesce(t.started_at, f.started_at), null::timestamptz,
               case when coalesce(f.place, t.place) = 'w' then coalesce(f.due_at, t.due_at) end, w.name,
               t.ending is not null, t.rolling_back, t.parent_id,
               e.error ->> 'code' as error_code, pawl._error_line(e.error, 120) as error_line, i.kind as wait_kind, i.name as wait_name
        from pawl_data.task t
        join pawl_data.queue q on q.queue_id = t.queue_id
        left join lateral pawl._shown_task(case when t.place = 'o' then t.run_id end, p_now) f on true
        left join pawl_data.worker w on w.session_id = coalesce(f.session_id, t.session_id)
        left join lateral (select coalesce(t.ending -> 'error', pawl._next_retry_error(coalesce(f.retries, t.retries))) as error) e on true
        -- The wait that stands for the run: the first that it opened.
        left join lateral (
            select pawl._kind_name(x.kind) as kind, coalesce(x.topic, x.name) as name
            from pawl_data.wait x
            where x.run_id = t.run_id and x.kind <> 'l' and coalesce(f.place, t.place) in ('w', 'o')
            order by x.created_at, x.task_no, x.seq
            limit 1
        ) i on true
        where t.run_id = any (p_ids) and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)
    )
    select l.* from live l
    union all
    select r.run_id, q.name, r.tenant, pawl._state_name(r.status), null, r.round::int, r.execution,
           r.priority::int, r.key, r.triggered_at, r.started_at, r.ended_at, null, w.name, false, false, r.parent_id,
           r.error ->> 'code', pawl._error_line(r.error, 120), null, null
    from (
        select distinct on (e.run_id) e.*
        from pawl._runs(p_ids) e
        where v_bound is null or e.tenant = v_bound
        order by e.run_id, e.round desc
    ) r
    join pawl_data.queue q on q.queue_id = r.queue_id
    left join pawl_data.worker w on w.session_id = r.session_id
    where not exists (select from live l where l.run_id = r.run_id);
end
$$;
comment on function pawl._overview(uuid[], timestamptz, text) is 'runs as a list shows them';

create or replace function pawl.get_run(run uuid)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, execution int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text, input json, metadata json, output json, error json, steps json, forked_from uuid, tags text[], crashes int)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_run pawl_data.run := pawl._last_run(run);
begin
    return query
    select o.*,
           coalesce(t.input, pawl._input_of(run), (select r.input from pawl._runs(array[run]) r where r.round = 1)),
           coalesce(t.metadata, v_run.metadata),
           case when t.run_id is null then v_run.output end,
           case when t.run_id is null then v_run.error else t.ending -> 'error' end,
           pawl._step_list(run, v_now),
           pawl._forked_from(run),
           pawl._tags_of(run),
           (select count(*)::int from pawl._audits(run) a where a.what = 'lease_lost')
    from pawl._overview(array[run], v_now, 'get_run') o
    left join pawl_data.task t on t.run_id = o.run_id and t.task_no = 0;
    if not found then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
end
$$;
comment on function pawl.get_run(uuid) is
'One run: its state, input, output or error, and its steps in the order they started: recorded ones, open waits (PAUSED), steps whose failed attempt will be repeated (PAUSED until due_at, then QUEUED), and steps that its worker reported as executing (RUNNING). Each step is listed once in a round, with its branch and its failed_attempts, which are those before the last one; one of kind child has the run of the child. forked_from is the run whose records it was made with; tags is null if it has none. crashes is how often a worker lost its lease while it held the run or a task of it.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW001 no such run.
Limits: the steps of the run.';

-- Returns the name by which a record is shown: a step of a flow by its name, an element of a map step as NAME[index]. A step inside either
-- follows a slash.
create or replace function pawl._task_label(p_step text, p_task int, p_name text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_step || case when pawl._element_of(p_task) > 0 then '[' || pawl._element_of(p_task) - 1 || ']' else '' end
           || case when strpos(p_name, '#') > 0 then '/' || p_name else '' end;
end
$$;
comment on function pawl._task_label(text, int, text) is 'the name by which a record of a task of a flow is shown';

-- Returns the same name for one record, if only its run is known.
create or replace function pawl._shown_name(p_run uuid, p_task int, p_name text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_step text := (
        select s.name
        from pawl_data.flow_step s
        join pawl_data.queue q on q.workflow_id = s.workflow_id
        where s.step_no = pawl._step_of(p_task)
          and q.queue_id = coalesce((select t.queue_id from pawl_data.task t where t.run_id = p_run and t.task_no = 0),
                                    (pawl._last_run(p_run)).queue_id));
begin
    return pawl._task_label(v_step, p_task, p_name);
end
$$;
comment on function pawl._shown_name(uuid, int, text) is 'the name by which a step of a flow is shown';

-- Planned at each call, so that only the partition of this run is opened.
create or replace function pawl._forked_from(p_run uuid)
returns uuid
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
begin
    return (
        select (a.detail ->> 'run')::uuid
        from (
            select b.* from pawl_data.audit b where b.run_id = p_run
            union all
            select k.* from pawl_data.audit_kept k where k.run_id = p_run
        ) a
        where a.what = 'forked_from'
        order by a.audit_no limit 1);
end
$$;
comment on function pawl._forked_from(uuid) is 'the run that a run was forked from';

-- Returns the steps of a task that its worker, if live, has reported as executing.
create or replace function pawl._running_steps(p_task pawl_data.task, p_now timestamptz)
returns table (step text, attempt int, started_at timestamptz)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select r ->> 'step', coalesce((r ->> 'attempt')::int, (p_task.retries -> (r ->> 'step') ->> 'n')::int + 1, 1),
           k.reported_at - coalesce((r ->> 'started_ms')::float8, 0) * interval '1 ms'
    from pawl_data.worker k
    cross join lateral json_array_elements(case when json_typeof(k.running) = 'array' then k.running else '[]' end) r
    where k.session_id = p_task.session_id and pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now)
      and r ->> 'run' = p_task.run_id::text and coalesce((r ->> 'task')::int, 0) = p_task.task_no and r ->> 'step' is not null;
end
$$;
comment on function pawl._running_steps(pawl_data.task, timestamptz) is 'the steps of a task that a live worker reported as executing';

-- The failed attempts of one step in its round, out of those of the run. p_ends: when each round ended. A flow's task has no name of its own:
-- its attempts are those of its handler.
create or replace function pawl._failed_attempts(p_failed json, p_ends timestamptz[], p_task int, p_name text, p_round int)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_failed is null then
        return null;
    end if;
    return (
        select json_agg(json_build_object('attempt', f -> 'attempt', 'ended_at', f -> 'ended_at', 'error', f -> 'error') order by n)
        from json_array_elements(p_failed) with ordinality u (f, n)
        where (f ->> 'task')::int = p_task
          and f ->> 'step' is not distinct from case when p_task = 0 or strpos(p_name, '#') > 0 then p_name end
          -- 1. A step fails, and an operator retries the run. 2. The step fails again. Without this each of the two records would have the
          -- attempts of both rounds.
          -- guard:attempts_of_round
          and (f ->> 'ended_at')::timestamptz > coalesce(p_ends[coalesce(p_round, cardinality(p_ends) + 1) - 1], '-infinity')
          and (f ->> 'ended_at')::timestamptz <= coalesce(p_ends[p_round], 'infinity'));
end
$$;
comment on function pawl._failed_attempts(json, timestamptz[], int, text, int) is 'the failed attempts of a step in its round';

create or replace function pawl._step_list(p_run uuid, p_now timestamptz)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Looked up once, for a run may have many tasks.
    v_workflow int := (
        select q.workflow_id from pawl_data.queue q
        where q.queue_id = coalesce((select t.queue_id from pawl_data.task t where t.run_id = p_run and t.task_no = 0),
                                    (pawl._last_run(p_run)).queue_id));
    v_source uuid := pawl._forked_from(p_run);
    v_failed json := (
        select json_agg(json_build_object('task', a.task_no, 'step', a.detail -> 'step', 'attempt', a.detail -> 'failures', 'ended_at', a.at,
                                          'error', a.detail -> 'error') order by a.audit_no)
        from pawl._audits(p_run) a where a.what = 'attempt_failed');
    v_ends timestamptz[] := array(select r.ended_at from pawl._runs(array[p_run]) r order by r.round);
begin
    return (
        select coalesce(json_agg(json_build_object(
                   'name', case when l.task_no > 0 then pawl._task_label(f.name, l.task_no, l.name) else l.name end,
                   'branch', substring(l.name from '^(?:rollback:)?(.*)/[^/]*$'), 'kind', l.kind, 'state', l.state, 'round', l.round,
                   'attempt', l.attempt, 'started_at', l.started_at, 'ended_at', l.ended_at, 'due_at', l.due_at,
                   'output', l.output, 'error', l.error, 'copied_from', l.copied, 'child', l.child,
                   'failed_attempts', pawl._failed_attempts(v_failed, v_ends, l.task_no, l.name, l.round))
                   order by coalesce(l.name, '') like 'rollback:%', l.task_no, l.seq, l.started_at, l.name), '[]')
        from (
            select s.task_no, s.seq, s.name,
                   pawl._kind_name(s.kind) as kind,
                   pawl._state_name(s.state) as state, s.round::int as round, s.attempt,
                   s.started_at, s.ended_at, null::timestamptz as due_at, s.output, s.error,
                   case when s.source_id = v_source then v_source end as copied,
                   case when s.kind = 'c' and s.source_id is distinct from v_source then s.source_id end as child
            from pawl._steps(array[p_run]) s
            -- 1. A step with an undo starts: it has a record, RUNNING. 2. Its worker reports it, or its first attempt fails. Both are listed
            -- below, and say more; without this the step would be listed twice.
            -- guard:begun_step_once
            where s.state <> 'r' or not exists (
                select from pawl_data.task t
                where t.run_id = p_run and t.task_no = s.task_no
                  and (t.retries -> s.name is not null or exists (select from pawl._running_steps(t, p_now) r where r.step = s.name)))
            union all
            select w.task_no, w.seq, w.name,
                   pawl._kind_name(w.kind), 'PAUSED', null, 1, w.created_at, null,
                   nullif(w.due_at, 'infinity'), null, null, null, w.child_id
            from pawl_data.wait w where w.run_id = p_run and w.kind <> 'l'
            union all
            -- A failed attempt that will be repeated; once its time has come, only the worker knows how far the next one is.
            select t.task_no, 2147483646, e.key, 'step',
                   case when (e.value ->> 'due')::timestamptz > p_now then 'PAUSED' else 'QUEUED' end, null, (e.value ->> 'n')::int, null, null,
                   (e.value ->> 'due')::timestamptz, null, e.value -> 'error', null, null
            from pawl_data.task t cross join lateral json_each(t.retries) e
            -- 1. An attempt fails. 2. A worker claims the run and executes the step again. 3. Its heartbeat reports that. Without this the step
            -- would be listed as waiting, too, until the attempt has ended.
            -- guard:tried_step_once
            where t.run_id = p_run and e.key <> ''
              and not exists (select from pawl._running_steps(t, p_now) r where r.step = e.key)
            union all
            select t.task_no, 0, null, 'step',
                   pawl._state(t.place, t.due_at,
                               case when pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now) then k.lease_until end, p_now),
                   t.round::int, t.execution,
                   t.started_at, null, case when t.place = 'w' then nullif(t.due_at, 'infinity') end, null,
                   t.retries -> '' -> 'error', null, null
            from pawl_data.task t
            left join pawl_data.worker k on k.session_id = t.session_id
            where t.run_id = p_run and t.task_no > 0
            union all
            select t.task_no, 2147483647, r.step, 'step', 'RUNNING', null, r.attempt, r.started_at, null, null, null,
                   t.retries -> r.step -> 'error', null, null
            from pawl_data.task t
            cross join lateral pawl._running_steps(t, p_now) r
            where t.run_id = p_run
        ) l
        left join pawl_data.flow_step f on f.workflow_id = v_workflow and f.step_no = pawl._step_of(l.task_no) and l.task_no > 0);
end
$$;
comment on function pawl._step_list(uuid, timestamptz) is 'the steps of a run as JSON';

create or replace function pawl.result(run uuid)
returns table (status text, output json, error json)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_run pawl_data.run;
    v_bound text := pawl._bound_tenant('result');
begin
    if exists (select from pawl_data.task t where t.run_id = run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)) then
        return;
    end if;
    v_run := pawl._last_run(run);
    if v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant) then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    return query select pawl._state_name(v_run.status), v_run.output, v_run.error;
end
$$;
comment on function pawl.result(uuid) is
'The outcome of a run that has ended; no row while it has not. Cheap enough to ask again and again.
If repeated: returns the same.
Locks: none.
Errors: PW001 no such run.
Limits: the cost is constant.';

create or replace function pawl.results(runs uuid[])
returns table (run_id uuid, status text, output json, error json)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant('results');
    v_run pawl_data.run;
    v_bytes bigint := 0;
    v_count int := 0;
begin
    if cardinality(runs) > 1000 then
        -- guard:results_max
        perform pawl._raise('PW009', format('%s runs in one call, the limit is 1000', cardinality(runs)));
    end if;
    -- The living ones first: of a thousand runs that a caller waits for, most have not ended.
    for run_id in
        select u.r from unnest(runs) with ordinality u (r, n)
        where u.r is not null and not exists (
            select from pawl_data.task t where t.run_id = u.r and t.task_no = 0 and (v_bound is null or t.tenant = v_bound))
        order by u.n
    loop
        v_run := pawl._last_run(run_id);
        -- guard:results_tenant
        if v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant) then
            v_run := null;
        end if;
        v_bytes := v_bytes + coalesce(octet_length(v_run.output::text), 0) + coalesce(octet_length(v_run.error::text), 0);
        -- guard:results_bytes
        exit when v_bytes > pawl._claim_max() and v_count > 0;
        status := coalesce(pawl._state_name(v_run.status), 'NOT_FOUND');
        output := v_run.output;
        error := v_run.error;
        v_count := v_count + 1;
        return next;
    end loop;
end
$$;
comment on function pawl.results(uuid[]) is
'The outcomes of those runs that have ended, in the order given; NOT_FOUND as status for an id without a run. A run that has not ended has no row. So one caller waits for many runs with one query: it asks again after a pause, without the runs that it has. It does not wait itself, because a statement that waits would keep vacuum from removing dead rows.
If repeated: returns the same, and the runs that have ended since.
Locks: none.
Errors: PW009 more than 1,000 ids.
Limits: 1,000 runs, and 64 MB of outputs and errors, or one run; others are left to the next call.';

