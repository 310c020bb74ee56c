-- SPDX-License-Identifier: Apache-2.0
-- Reading: the state of a run, a run with its steps, history, waits, queues, workers, metrics. Lists of runs are in search.sql.

-- The one place where the shown state is computed: from the claimable row, the holder's lease and the time.
create or replace function pawl._state(
    p_place int, p_due_at timestamptz, p_lease_until timestamptz, p_now timestamptz)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case
        when p_place = 2 and p_lease_until >= p_now then 'RUNNING'
        when p_place = 1 and p_due_at > p_now then 'PAUSED'
        else 'QUEUED' end;
end
$$;
comment on function pawl._state(int, timestamptz, timestamptz, timestamptz) is 'the shown state of a run that has not ended';

-- Whether a session may act: its lease is live, and its epoch is the one in force.
create or replace function pawl._is_live(p_session bigint, p_ended_at timestamptz, p_lease_until timestamptz, p_now timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:live_epoch
    return p_ended_at is null and p_lease_until >= p_now and p_session >> 32 = pawl._epoch();
end
$$;
comment on function pawl._is_live(bigint, timestamptz, timestamptz, timestamptz) is 'whether a worker session may act';

-- How many live workers, of those that may take runs of the tenant (null: of all), have the same list of queues.
create or replace function pawl._live_workers(p_now timestamptz, p_tenant text)
returns table (queue_ids int[], n bigint)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select w.queue_ids, count(*)
    from pawl_data.worker w
    -- guard:workers_of_tenant
    where pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now)
      and (p_tenant is null or w.tenant is null or w.tenant = p_tenant)
    group by w.queue_ids;
end
$$;
comment on function pawl._live_workers(timestamptz, text) is 'live workers by the queues they handle';

-- The task that says most about a run of a flow: held by a live worker, ready, or the first that is due.
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
    order by (t.place = 2 and pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now)) is not true, t.place = 1, t.due_at, t.task_no
    limit 1;
end
$$;
comment on function pawl._shown_task(uuid, timestamptz) is 'the task that stands for a run of a flow';

-- Everything about a run that a reader may want in a list, from the hot set or from history.
create or replace function pawl._overview(p_ids uuid[], p_now timestamptz)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, attempt int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant();
begin
    -- With no ids the condition below is always false, and the planner may take any index for it, and read all of it.
    if cardinality(p_ids) = 0 then
        return;
    end if;
    return query
    with live as (
        -- A run of a flow is shown as the task of it that is furthest, or as the first that is due.
        select t.run_id, q.name, t.tenant,
               case when t.place = 4 and f.task_no is null then 'PAUSED'
                    else pawl._state(coalesce(f.place, t.place), coalesce(f.due_at, t.due_at),
                                     case when pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now) then w.lease_until end,
                                     p_now) end as status,
               case when t.place = 4 and f.task_no is null then 'child'
                    when coalesce(f.place, t.place) = 1 and coalesce(f.due_at, t.due_at) > p_now then coalesce(f.reason, t.reason) end,
               t.round::int, greatest(t.attempt, f.attempt), t.priority::int, t.key, t.triggered_at,
               coalesce(t.started_at, f.started_at), null::timestamptz,
               case when coalesce(f.place, t.place) = 1 then coalesce(f.due_at, t.due_at) end, w.name,
               t.ending is not null, t.rolling_back, t.parent_id
        from pawl_data.task t
        join pawl_data.queue q on q.queue_id = t.queue_id
        left join lateral pawl._shown_task(case when t.place = 4 then t.run_id end, p_now) f on true
        left join pawl_data.worker w on w.session_id = coalesce(f.session_id, t.session_id)
        where t.run_id = any (p_ids) and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)
    )
    select l.* from live l
    union all
    select r.run_id, q.name, r.tenant, (array['SUCCESS', 'ERROR', 'CANCELLED'])[r.status], null, r.round::int, r.attempt,
           r.priority::int, r.key, r.triggered_at, r.started_at, r.ended_at, null, w.name, false, false, r.parent_id
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
comment on function pawl._overview(uuid[], timestamptz) is 'runs as a list shows them';

create or replace function pawl.get_run(run uuid)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, attempt int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, input json, metadata json, output json, error json, steps json, forked_from uuid)
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
           pawl._forked_from(run)
    from pawl._overview(array[run], v_now) o
    left join pawl_data.task t on t.run_id = o.run_id and t.task_no = 0;
    if not found then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
end
$$;
comment on function pawl.get_run(uuid) is
'One run: its state, input, output or error, and its steps in the order they started: recorded ones, open waits (PAUSED), steps whose failed attempt will be repeated (PAUSED until due_at, then QUEUED), and steps that its worker reported as executing (RUNNING). Each step is listed once in a round; one of kind child has the run of the child. forked_from is the run whose records it was made with.
Twice: the same, or what has happened since.
Locks: none.
Errors: PW001 no such run.
Bound: the steps of the run.';

-- A step of a flow is shown by its name, an element of a map step as NAME[index], a step inside of either behind a slash.
create or replace function pawl._task_label(p_step text, p_task int, p_name text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_step || case when p_task % 1000000 > 0 then '[' || p_task % 1000000 - 1 || ']' else '' end
           || case when strpos(p_name, '#') > 0 then '/' || p_name else '' end;
end
$$;
comment on function pawl._task_label(text, int, text) is 'the name by which a record of a task of a flow is shown';

-- The same for one of them, of which only the run is known.
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
        where s.step_no = p_task / 1000000
          and q.queue_id = coalesce((select t.queue_id from pawl_data.task t where t.run_id = p_run and t.task_no = 0),
                                    (pawl._last_run(p_run)).queue_id));
begin
    return pawl._task_label(v_step, p_task, p_name);
end
$$;
comment on function pawl._shown_name(uuid, int, text) is 'the name by which a step of a flow is shown';

-- Planned anew at each call, so that only the partition of this run is opened.
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

-- The steps of a task that its worker, if it is live, said it executes.
create or replace function pawl._running_steps(p_task pawl_data.task, p_now timestamptz)
returns table (step text, attempt int, started_at timestamptz)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select r ->> 'step', coalesce((r ->> 'attempt')::int, (p_task.tries -> (r ->> 'step') ->> 'n')::int + 1, 1),
           k.told_at - coalesce((r ->> 'started_ms')::float8, 0) * interval '1 ms'
    from pawl_data.worker k
    cross join lateral json_array_elements(case when json_typeof(k.running) = 'array' then k.running else '[]' end) r
    where k.session_id = p_task.session_id and pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now)
      and r ->> 'run' = p_task.run_id::text and coalesce((r ->> 'task')::int, 0) = p_task.task_no and r ->> 'step' is not null;
end
$$;
comment on function pawl._running_steps(pawl_data.task, timestamptz) is 'the steps of a task that a live worker reported as executing';

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
begin
    return (
        select coalesce(json_agg(json_build_object(
                   'name', case when l.task_no > 0 then pawl._task_label(f.name, l.task_no, l.name) else l.name end,
                   'kind', l.kind, 'state', l.state, 'round', l.round,
                   'attempt', l.attempt, 'started_at', l.started_at, 'ended_at', l.ended_at, 'due_at', l.due_at,
                   'output', l.output, 'error', l.error, 'copied_from', l.copied, 'child', l.child)
                   order by coalesce(l.name, '') like 'rollback:%', l.task_no, l.seq, l.started_at, l.name), '[]')
        from (
            select s.task_no, s.seq, s.name,
                   pawl._kind_name(s.kind) as kind,
                   pawl._state_name(s.state) as state, s.round::int as round, s.attempt,
                   s.started_at, s.ended_at, null::timestamptz as due_at, s.output, s.error,
                   case when s.source_id = v_source then v_source end as copied,
                   case when s.kind = 5 and s.source_id is distinct from v_source then s.source_id end as child
            from pawl._steps(array[p_run]) s
            -- 1. A step with an undo starts: it has a record, RUNNING. 2. Its worker reports it, or its first attempt fails. Both are listed
            -- below, and say more; without this the step would be listed twice.
            -- guard:begun_step_once
            where s.state <> 3 or not exists (
                select from pawl_data.task t
                where t.run_id = p_run and t.task_no = s.task_no
                  and (t.tries -> s.name is not null or exists (select from pawl._running_steps(t, p_now) r where r.step = s.name)))
            union all
            select w.task_no, w.seq, w.name,
                   pawl._kind_name(w.kind), 'PAUSED', null, 1, w.created_at, null,
                   nullif(w.due_at, 'infinity'), null, null, null, w.child_id
            from pawl_data.wait w where w.run_id = p_run and w.kind > 0
            union all
            -- A failed attempt that will be repeated; once its time has come, only the worker knows how far the next one is.
            select t.task_no, 2147483646, e.key, 'step',
                   case when (e.value ->> 'due')::timestamptz > p_now then 'PAUSED' else 'QUEUED' end, null, (e.value ->> 'n')::int, null, null,
                   (e.value ->> 'due')::timestamptz, null, e.value -> 'error', null, null
            from pawl_data.task t cross join lateral json_each(t.tries) e
            -- 1. An attempt fails. 2. A worker claims the run and executes the step again. 3. Its heartbeat reports that. Without this the step
            -- would be listed as waiting, too, until the attempt has ended.
            -- guard:tried_step_once
            where t.run_id = p_run and e.key <> ''
              and not exists (select from pawl._running_steps(t, p_now) r where r.step = e.key)
            union all
            select t.task_no, 0, null, 'step',
                   pawl._state(t.place, t.due_at,
                               case when pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now) then k.lease_until end, p_now),
                   t.round::int, t.attempt,
                   t.started_at, null, case when t.place = 1 then nullif(t.due_at, 'infinity') end, null,
                   t.tries -> '' -> 'error', null, null
            from pawl_data.task t
            left join pawl_data.worker k on k.session_id = t.session_id
            where t.run_id = p_run and t.task_no > 0
            union all
            select t.task_no, 2147483647, r.step, 'step', 'RUNNING', null, r.attempt, r.started_at, null, null, null,
                   t.tries -> r.step -> 'error', null, null
            from pawl_data.task t
            cross join lateral pawl._running_steps(t, p_now) r
            where t.run_id = p_run
        ) l
        left join pawl_data.flow_step f on f.workflow_id = v_workflow and f.step_no = l.task_no / 1000000 and l.task_no > 0);
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
    v_bound text := pawl._bound_tenant();
begin
    if exists (select from pawl_data.task t where t.run_id = run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)) then
        return;
    end if;
    v_run := pawl._last_run(run);
    if v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant) then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    return query select (array['SUCCESS', 'ERROR', 'CANCELLED'])[v_run.status], v_run.output, v_run.error;
end
$$;
comment on function pawl.result(uuid) is
'The outcome of a run that has ended; no row while it has not. Cheap enough to ask again and again.
Twice: the same.
Locks: none.
Errors: PW001 no such run.
Bound: constant.';

create or replace function pawl.history(run uuid)
returns table (at timestamptz, what text, round int, who text, detail json)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
#variable_conflict use_column
declare
    v_over record;
    v_workflow int;
begin
    select o.* into v_over from pawl._overview(array[run], pawl.now()) o;
    if not found then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    v_workflow := (select w.workflow_id from pawl_data.workflow w where w.name = v_over.workflow);
    return query
    select h.at, h.what, h.round, h.who, h.detail
    from (
        select v_over.triggered_at as at, 'triggered' as what, 1 as round, null::text as who,
               json_build_object('workflow', v_over.workflow, 'key', v_over.key) as detail, 0::bigint as n
        union all
        select v_over.started_at, 'started', 1, pawl._started_by(run), null, 1 where v_over.started_at is not null
        union all
        -- A fork has copies of records that are older than itself: they are its own from its trigger on.
        select greatest(coalesce(s.ended_at, s.started_at), v_over.triggered_at), case s.state when 1 then 'step_succeeded' when 2 then 'step_failed'
                   when 3 then 'step_started' else 'step_skipped' end,
               s.round::int, null, json_build_object('step', case when s.task_no > 0 then pawl._task_label(f.name, s.task_no, s.name)
                                                                  else s.name end, 'kind', pawl._kind_name(s.kind), 'attempt', s.attempt),
               1000000 + s.seq::bigint
        from pawl._steps(array[run]) s
        left join pawl_data.flow_step f on f.workflow_id = v_workflow and f.step_no = s.task_no / 1000000 and s.task_no > 0
        union all
        select a.at, a.what, null, a.who, a.detail, 2000000000 + a.audit_no
        from pawl._audits(run) a
        union all
        select r.ended_at, 'ended', r.round::int, pawl._ended_by(r),
               json_build_object('status', (array['SUCCESS', 'ERROR', 'CANCELLED'])[r.status], 'error', r.error),
               9000000000000000000
        from pawl._runs(array[run]) r
    ) h
    order by h.at, h.n
    limit 20000;
end
$$;
comment on function pawl.history(uuid) is
'Every transition of a run in order: derived from its records, together with what was unusual (failed tries, lost leases, cancel, pause, operator acts, late results). who is the operator, the worker, or pawl for the engine itself; null where it is not known.
Twice: the same, or what has happened since.
Locks: none.
Errors: PW001 no such run.
Bound: 20,000 rows.';

-- The worker that executed a run first, as far as that is known: a later execution overwrites the session, and only a lost lease is noted.
create or replace function pawl._started_by(p_run uuid)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
begin
    return (
        select w.name
        from pawl_data.worker w
        where w.session_id = coalesce(
            (select t.session_id from pawl_data.task t where t.run_id = p_run and t.task_no = 0 and t.attempt = 1 and t.started),
            (select r.session_id from pawl._runs(array[p_run]) r where r.round = 1 and r.attempt = 1),
            (select (a.detail ->> 'session')::bigint from pawl._audits(p_run) a
             where a.what = 'lease_lost' and a.task_no = 0 and a.detail ->> 'fence' = '1')));
end
$$;
comment on function pawl._started_by(uuid) is 'the worker that executed a run first, if it is known';

-- Who ended a round: an operator, the engine (pawl), or the worker that held the run. Of a flow's tasks several workers did.
create or replace function pawl._ended_by(p_run pawl_data.run)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_run.status = 3 then
        return (
            select a.who from pawl._audits(p_run.run_id) a
            where a.what in ('cancel', 'kill') and a.at <= p_run.ended_at
            order by a.audit_no desc limit 1);
    end if;
    -- A handler may use these codes for errors of its own, which have other messages.
    if p_run.error ->> 'code' in ('timeout', 'crashed', 'record_too_large')
       and p_run.error ->> 'message' ~ '^(the run has reached its time limit|[0-9]+ workers lost their lease|the run has recorded)' then
        return 'pawl';
    end if;
    return (select w.name from pawl_data.worker w where w.session_id = p_run.session_id);
end
$$;
comment on function pawl._ended_by(pawl_data.run) is 'who ended a round of a run, if it is known';

create or replace function pawl._audits(p_run uuid)
returns setof pawl_data.audit
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
begin
    return query
    select a.* from pawl_data.audit a where a.run_id = p_run
    union all
    select k.* from pawl_data.audit_kept k where k.run_id = p_run;
end
$$;
comment on function pawl._audits(uuid) is 'the audit rows of a run, wherever they live';

create or replace function pawl.notes(run uuid, after bigint default 0, most int default 1000)
returns table (note_no bigint, at timestamptz, kind text, name text, body text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if not exists (select from pawl._overview(array[run], pawl.now()) o) then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    return query
    select n.note_no, n.at, n.kind, n.name, n.body
    from pawl._notes(run) n
    where n.note_no > after
    order by n.note_no
    limit least(greatest(most, 0), 1000);
end
$$;
comment on function pawl.notes(uuid, bigint, int) is
'Logs, progress and small values kept with a run, in order. after is the last note_no already seen.
Twice: the same, or what has been added since.
Locks: none.
Errors: PW001 no such run.
Bound: 1,000 rows.';

create or replace function pawl.list_waits(run uuid default null, approvals boolean default false, tenant text default null, cursor uuid default null, most int default 100)
returns table (run_id uuid, name text, kind text, topic text, key text, match json, form json, child uuid, since timestamptz, until timestamptz)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_bound text := coalesce(pawl._bound_tenant(), tenant);
    v_most int := least(greatest(most, 0), 1000);
begin
    return query
    with page as (
        select w.*, row_number() over (order by w.run_id, w.task_no, w.seq) as n
        from pawl_data.wait w
        where (run is null or w.run_id = run) and w.kind > 0 and (not approvals or w.kind = 6)
          and (v_bound is null or w.tenant = v_bound) and (cursor is null or w.run_id > cursor)
        order by w.run_id, w.task_no, w.seq
        limit v_most + 1
    )
    select w.run_id, w.name, pawl._kind_name(w.kind), w.topic, w.key, w.match, w.form, w.child_id, w.created_at,
           nullif(w.due_at, 'infinity')
    from page w
    -- A run that does not fit is left to the next page, which begins behind the last run of this one.
    -- guard:waits_whole_run
    where w.n <= v_most and (w.run_id not in (select p.run_id from page p where p.n > v_most)
                             or w.run_id = (select p.run_id from page p where p.n = 1))
    order by w.n;
end
$$;
comment on function pawl.list_waits(uuid, boolean, text, uuid, int) is
'Open waits, of one run or of all, in the order of run ids; with approvals only what waits for a human decision, with its form. Pass the last run as cursor to go on: a page has all waits of its runs, unless one run alone has more.
Twice: the same, or what has happened since.
Locks: none.
Errors: none.
Bound: 1,000 rows.';

-- Since when the first ready task of a queue has been due, of one tenant or of all.
create or replace function pawl._first_due(p_queue int, p_tenant text)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- By task_tenant_idx, as a claim.
    -- guard:first_due_by_tenant
    if p_tenant <> '' then
        return (
            select t.due_at from pawl_data.task t
            where t.tenant = p_tenant and t.tenant <> '' and t.place % 3 = 0 and t.place + 0 = 0 and t.queue_id = p_queue
            order by t.priority, t.due_at limit 1);
    end if;
    return (
        select t.due_at from pawl_data.task t
        where t.place = 0 and t.queue_id = p_queue and (p_tenant is null or t.tenant = p_tenant)
        order by t.priority, t.due_at limit 1);
end
$$;
comment on function pawl._first_due(int, text) is 'when the first ready task of a queue became due';

create or replace function pawl.list_queues(most int default 1000)
returns table (queue text, workflow text, ready bigint, ready_shown text, held bigint, oldest_ready interval, workers int, paused boolean)
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
    v_paused int[] := pawl._paused_queues();
    v_bound text := pawl._bound_tenant();
begin
    return query
    select q.name, w.name, d.n, case when d.n > 10000 then '10k+' else d.n::text end, coalesce(h.n, 0),
           v_now - pawl._first_due(q.queue_id, v_bound), coalesce(k.n, 0), q.queue_id = any (v_paused)
    from pawl_data.queue q
    join pawl_data.workflow w on w.workflow_id = q.workflow_id
    cross join lateral (
        select count(*) as n
        from (
            -- guard:queues_by_tenant
            (select from pawl_data.task t
             where coalesce(v_bound, '') = '' and t.place = 0 and t.queue_id = q.queue_id and (v_bound is null or t.tenant = v_bound)
             limit 10001)
            union all
            -- By task_tenant_idx, as a claim.
            (select from pawl_data.task t
             where v_bound <> '' and t.tenant = v_bound and t.tenant <> '' and t.place % 3 = 0 and t.place + 0 = 0 and t.queue_id = q.queue_id
             limit 10001)
        ) c
    ) d
    -- What is held, and who is there, is read once and not for each queue.
    left join (
        select t.queue_id, count(*) as n from pawl_data.task t
        where t.place = 2 and (v_bound is null or t.tenant = v_bound)
        group by t.queue_id
    ) h on h.queue_id = q.queue_id
    left join (
        select u.queue_id, sum(g.n)::int as n
        from pawl._live_workers(v_now, v_bound) g
        cross join unnest(g.queue_ids) u (queue_id)
        group by u.queue_id
    ) k on k.queue_id = q.queue_id
    order by q.name
    limit least(greatest(most, 0), 10000);
end
$$;
comment on function pawl.list_queues(int) is
'Queues with what is ready (counted up to 10,000, then shown as 10k+), held, how long the first ready task has been due, live workers, and whether it is paused.
Twice: the same, or what has happened since.
Locks: none.
Errors: none.
Bound: 10,000 tasks counted for each queue.';

create or replace function pawl.list_workers(ended boolean default false, most int default 1000)
returns table (session bigint, worker text, state text, handles text[], runtimes text[], held bigint, lease_until timestamptz, registered_at timestamptz, ended_at timestamptz, ended_why text, running json, notice text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_bound text := pawl._bound_tenant();
    v_notice text := case when pawl._keeper_missing(v_now) then pawl._keeper_cure() end;
begin
    return query
    select w.session_id, w.name,
           case when w.ended_at is not null then 'ended' when not pawl._is_live(w.session_id, w.ended_at, w.lease_until, v_now) then 'lost'
                when w.draining then 'draining' when w.idle then 'idle' else 'live' end,
           w.handles, w.runtimes,
           (select count(*) from (select from pawl_data.task t where t.place = 2 and t.session_id = w.session_id limit 10001) c),
           w.lease_until, w.registered_at, w.ended_at, w.ended_why, w.running, v_notice
    from pawl_data.worker w
    where (ended or w.ended_at is null) and (v_bound is null or w.tenant = v_bound)
    order by w.registered_at desc
    limit least(greatest(most, 0), 10000);
end
$$;
comment on function pawl.list_workers(boolean, int) is
'Worker sessions: what they handle, what they hold, until when their lease is live; with ended also those that have gone. notice says, in every row, that nobody does housekeeping for all tenants, if that is so.
Twice: the same, or what has happened since.
Locks: none.
Errors: none.
Bound: 10,000 sessions.';

-- Until when ended runs are counted; null: none has been.
create or replace function pawl._counted_until(p_now timestamptz)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- Further ahead than an hour means that the clock was set back, and that counting begins again.
    return (select to_timestamp(c.position::float8) from pawl_data.chore c
            where c.chore = 'rollup' and c.position::float8 <= date_part('epoch', p_now) + 3600);
end
$$;
comment on function pawl._counted_until(timestamptz) is 'until when housekeeping has counted ended runs';

create or replace function pawl.metrics(only_workflow text default null, since interval default '1 hour')
returns table (workflow text, succeeded bigint, failed bigint, cancelled bigint, per_second double precision, mean_seconds double precision, max_seconds double precision, mean_wait_seconds double precision, oldest_ready interval, counted_until timestamptz)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_bound text := pawl._bound_tenant();
    v_until timestamptz := pawl._counted_until(v_now);
    v_from timestamptz;
begin
    -- Further back there is no time to compare with.
    -- guard:metrics_since
    if since < interval '0' or since > interval '1000 years' then
        perform pawl._raise('PW003', 'since must be between 0 and 1000 years');
    end if;
    v_from := pawl._shift(v_now, - since);
    return query
    select w.name, coalesce(sum(m.succeeded), 0)::bigint, coalesce(sum(m.failed), 0)::bigint,
           coalesce(sum(m.cancelled), 0)::bigint,
           coalesce(sum(m.succeeded + m.failed + m.cancelled), 0)::double precision / greatest(date_part('epoch', since), 1),
           sum(m.seconds_sum) / nullif(sum(m.succeeded + m.failed + m.cancelled), 0)::double precision,
           max(m.seconds_max),
           sum(m.waited_sum) / nullif(sum(m.succeeded + m.failed + m.cancelled), 0)::double precision,
           v_now - pawl._first_due(w.queue_id, v_bound), v_until
    from pawl_data.workflow w
    left join pawl_data.metric m on m.workflow_id = w.workflow_id and m.minute >= v_from
                            and (v_bound is null or m.tenant = v_bound)
    where only_workflow is null or w.name = only_workflow
    group by w.workflow_id, w.name, w.queue_id
    order by w.name
    limit 10000;
end
$$;
comment on function pawl.metrics(text, interval) is
'Ended runs by workflow within the time: counts, rate, durations, time from trigger to start, and how long the first ready run has been due. Housekeeping counts each minute once, about two minutes after it has passed: runs that ended after counted_until are not in the counts. Where nobody calls tick(), as with no live worker, nothing is counted; counted_until is null until the first count.
Twice: the same, or what has happened since.
Locks: none.
Errors: PW003 since is less than 0 or more than 1000 years.
Bound: 10,000 workflows.';

create or replace function pawl.list_workflows(
    only_workflow text default null, cursor text default null, most int default 100, only_flows boolean default false)
returns table (
    workflow text, runtime text, priority int, max_attempts int, base interval, factor double precision, cap interval,
    jitter double precision, run_timeout interval, step_timeout interval, strict_order boolean, description text,
    created_at timestamptz, paused boolean, workers int, flow boolean)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select w.name, w.runtime, w.priority::int, w.max_attempts, w.base, w.factor, w.cap, w.jitter, w.run_timeout, w.step_timeout,
           w.strict_order, w.description, w.created_at,
           exists (select from pawl_data.pause p where p.subject = 'workflow' and p.name = w.name),
           coalesce(k.n, 0), w.flow
    from pawl_data.workflow w
    left join (
        select h.workflow_id, sum(h.n)::int as n
        from (
            -- A worker of several steps of a flow counts once.
            select distinct q.workflow_id, g.no, g.n
            from pawl._live_workers(pawl.now(), pawl._bound_tenant()) with ordinality g (queue_ids, n, no)
            cross join unnest(g.queue_ids) u (queue_id)
            join pawl_data.queue q on q.queue_id = u.queue_id
        ) h
        group by h.workflow_id
    ) k on k.workflow_id = w.workflow_id
    where (only_workflow is null or w.name = only_workflow
           or right(only_workflow, 1) = '*' and starts_with(w.name, left(only_workflow, -1)))
      and (cursor is null or w.name > cursor)
      and (w.flow or not only_flows)
    order by w.name
    limit least(greatest(most, 0), 1000);
end
$$;
comment on function pawl.list_workflows(text, text, int, boolean) is
'Workflows by name, with their options, whether they are paused, how many live workers handle them or, of a flow, at least one of its steps, and whether they are flows. only_workflow may be a prefix pattern; with only_flows, only flows. Pass the last name as cursor to go on.
Twice: the same, or what has happened since.
Locks: none.
Errors: none.
Bound: 1,000 rows.';

create or replace function pawl.list_events(
    only_topic text default null, only_key text default null, only_tenant text default null,
    since timestamptz default null, before timestamptz default null, cursor uuid default null, most int default 50)
returns table (event_id uuid, emitted_at timestamptz, topic text, key text, tenant text, payload json, next_cursor uuid)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_bound text := pawl._bound_tenant();
    v_cursor uuid := coalesce(pawl._cursor_id(cursor), pawl._id_floor(least(coalesce(before, v_now + interval '2 hours'), v_now + interval '2 hours')));
    -- As in _runs_before().
    v_since uuid := greatest(pawl._id_floor(greatest(coalesce(since, '1970-01-02'), '1970-01-02')), pawl._first_id('event', v_now));
    v_most int := least(greatest(most, 0), 1000);
    v_found int;
begin
    -- At most 10,000 events are looked at; then the cursor says where to go on.
    return query
    select e.event_id, e.emitted_at, e.topic, e.key, e.tenant, e.payload, e.event_id
    from (
        select e.* from pawl_data.event e
        where e.event_id < v_cursor and e.event_id >= v_since
        order by e.event_id desc
        limit 10000
    ) e
    where (v_bound is null or e.tenant = v_bound) and (only_tenant is null or e.tenant = only_tenant)
      and (only_topic is null or e.topic = only_topic
           or right(only_topic, 1) = '*' and starts_with(e.topic, left(only_topic, -1)))
      and (only_key is null or e.key = only_key)
    order by e.event_id desc
    limit v_most;
    get diagnostics v_found = row_count;
    if v_found < v_most then
        select e.event_id into next_cursor from pawl_data.event e
        where e.event_id < v_cursor and e.event_id >= v_since
        order by e.event_id desc
        offset 9999 limit 1;
        if found then
            next_cursor := pawl._cursor_at(next_cursor);
            return next;
        end if;
    end if;
end
$$;
comment on function pawl.list_events(text, text, text, timestamptz, timestamptz, uuid, int) is
'Events that are still kept, newest first, filtered. only_topic may be a prefix pattern. Pass next_cursor of the last row as cursor to go on. When 10,000 events were looked at without filling the page, the last row has no event and only the cursor to go on from.
Twice: the same, or what has happened since.
Locks: none.
Errors: none.
Bound: 10,000 events looked at, 1,000 rows.';
