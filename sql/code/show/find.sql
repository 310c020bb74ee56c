-- SPDX-License-Identifier: Apache-2.0
-- Finding without reading run by run: failures in groups, counts, a search by a word, the states of many runs, runs by the time of their end.

-- Two failures of one cause have the same fingerprint: it is made of the code, and of the message without texts in quotes, ids and numbers,
-- which differ from run to run.
create or replace function pawl._fingerprint(p_error json)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return left(md5(coalesce(p_error ->> 'code', '') || chr(10) || regexp_replace(regexp_replace(coalesce(pawl._error_line(p_error, 200), ''),
        '"[^"]*"|''[^'']*''', '', 'g'), '\m[0-9a-fA-F]{8,}(-[0-9a-fA-F]{4,})*\M|[0-9]+', '', 'g')), 16);
end
$$;
comment on function pawl._fingerprint(json) is 'what an error has in common with others of its kind';

create or replace function pawl.list_failures(
    since timestamptz default null, only_workflow text default null, only_tenant text default null, cursor uuid default null, max_rows int default 100)
returns table (
    workflow text, fingerprint text, runs bigint, error_code text, error_line text, first_run uuid, first_at timestamptz, last_run uuid,
    last_at timestamptz, bars bigint[], next_cursor uuid)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_tenant text := coalesce(pawl._bound_tenant('list_failures'), only_tenant);
    v_queues int[] := pawl._queues_named(only_workflow);
    v_since timestamptz := greatest(coalesce(since, v_now - interval '24 hours'), v_now - interval '26280 hours');
    v_place uuid := coalesce(pawl._cursor_id(cursor), pawl._id_floor(v_now + interval '2 hours'));
    v_slice double precision := greatest(date_part('epoch', v_now - v_since), 1) / 24;
    v_max int := 10000;
    v_last uuid;
    v_examined bigint;
begin
    if v_tenant <> only_tenant or cardinality(v_queues) = 0 then
        return;
    end if;
    select count(*), (array_agg(f.run_id order by f.run_id))[1] into v_examined, v_last
    from pawl._failed_before(v_place, pawl._id_floor('1970-01-02'), v_max, v_tenant, v_queues, null) f;
    -- 1. There are more failures than are examined. 2. The groups are those of the newest. Without the cursor, a caller would take them for all.
    -- guard:failures_cursor
    if v_examined = v_max then
        next_cursor := pawl._cursor_at(v_last);
    end if;
    return query
    with failed as materialized (
        select f.run_id, f.queue_id, f.ended_at, f.error, pawl._fingerprint(f.error) as print,
               least(floor(date_part('epoch', f.ended_at - v_since) / v_slice), 23)::int as slice
        from pawl._failed_before(v_place, pawl._id_floor('1970-01-02'), v_max, v_tenant, v_queues, null) f
        where f.fits and f.ended_at >= v_since
    )
    select q.name, g.print, g.n, g.error ->> 'code', pawl._error_line(g.error, 200), g.first_run, g.first_at, g.last_run, g.last_at,
           array(select (select count(*) from failed f where f.queue_id = g.queue_id and f.print = g.print and f.slice = s) from generate_series(0, 23) s),
           next_cursor
    from (
        select f.queue_id, f.print, count(*) as n, (array_agg(f.run_id order by f.ended_at, f.run_id))[1] as first_run, min(f.ended_at) as first_at,
               (array_agg(f.run_id order by f.ended_at desc, f.run_id desc))[1] as last_run, max(f.ended_at) as last_at,
               (array_agg(f.error order by f.ended_at desc, f.run_id desc))[1] as error
        from failed f
        group by f.queue_id, f.print
    ) g
    join pawl_data.queue q on q.queue_id = g.queue_id
    order by g.n desc, g.last_at desc, q.name, g.print
    limit least(greatest(max_rows, 0), 1000);
    if not found and next_cursor is not null and max_rows > 0 then
        return next;
    end if;
end
$$;
comment on function pawl.list_failures(timestamptz, text, text, uuid, int) is
'Failed runs in groups, the largest first: by workflow and by fingerprint, which is made of the code of the error and of its message without numbers, ids and texts in quotes. Each group has its number of runs, its first and last run by the time of their end, the error of the last one, and bars: how many ended in each 24th part of the time from since (by default 24 hours ago, at most three years) until now. A run that was retried and lives again, or has succeeded, is not in it. If 10,000 failed rounds were examined, next_cursor continues with those of runs that were triggered earlier; where none of the examined is recent enough, the only row has nothing else.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 10,000 failed rounds examined, 1,000 rows.';

-- Living runs by workflow and state, up to 10,000 tasks of each place of a task. A row without a workflow says that a place was cut although
-- tasks of others, which are not counted, took part of the limit.
create or replace function pawl._count_living(p_tenant text, p_queues int[], p_now timestamptz)
returns table (workflow_id int, status text, n bigint, more boolean)
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
    with seen as materialized (
        (select t.run_id, t.queue_id, t.tenant, t.place, t.due_at, t.session_id from pawl_data.task t
         where coalesce(p_tenant, '') = '' and t.place = 'r' limit 10001)
        union all
        -- Uses task_tenant_idx, as a claim does.
        (select t.run_id, t.queue_id, t.tenant, t.place, t.due_at, t.session_id from pawl_data.task t
         where p_tenant <> '' and t.tenant = p_tenant and t.tenant <> '' and t.place::text in ('r', 's') limit 10001)
        union all
        (select t.run_id, t.queue_id, t.tenant, t.place, t.due_at, t.session_id from pawl_data.task t
         where coalesce(p_tenant, '') = '' and t.place = 's' limit 10001)
        union all
        (select t.run_id, t.queue_id, t.tenant, t.place, t.due_at, t.session_id from pawl_data.task t where t.place = 'h' limit 10001)
        union all
        (select t.run_id, t.queue_id, t.tenant, t.place, t.due_at, t.session_id from pawl_data.task t where t.place = 'w' limit 10001)
        union all
        -- Those that wait in lanes; the lanes of a tenant are one range.
        (select i.run_id, i.queue_id, coalesce(p_tenant, ''), 'l'::"char", i.due_at, null::bigint
         from pawl_data.lane_queue l
         cross join lateral (
             select w.run_id, w.queue_id, w.due_at from pawl_data.lane_task w
             where w.queue_id = l.queue_id and w.lane between pawl._lane_bound(p_tenant, false) and pawl._lane_bound(p_tenant, true)
             limit 10001
         ) i
         limit 10001)
    ), counted as materialized (
        select s.run_id, s.place, s.due_at, s.session_id, q.workflow_id
        from seen s
        join pawl_data.queue q on q.queue_id = s.queue_id
        where (p_tenant is null or s.tenant = p_tenant)
          and (p_queues is null or q.workflow_id in (select o.workflow_id from pawl_data.queue o where o.queue_id = any (p_queues)))
    ), cut as (
        select s.place, count(*) as n from seen s group by s.place having count(*) > 10000
    ), run as (
        -- A run of a flow with several tasks counts once, as the furthest of them.
        -- guard:counted_once
        select distinct on (s.run_id) s.run_id, s.workflow_id, s.place,
               case when s.place = 'h' and pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now) then 'RUNNING'
                    when s.place = 'w' and s.due_at > p_now then 'PAUSED' else 'QUEUED' end as status
        from counted s
        left join pawl_data.worker k on k.session_id = s.session_id and s.place = 'h'
        order by s.run_id, s.place <> 'h', s.place = 'w'
    )
    select r.workflow_id, r.status, count(*), bool_or(r.place in (select c.place from cut c))
    from run r
    group by r.workflow_id, r.status
    union all
    -- 1. Ten thousand runs of A wait. 2. B counts its own, which come after these. Without the row nothing would say that they are left out.
    -- guard:cut_told
    select null, null, 0, true
    where exists (select from cut c where c.n > (select count(*) from counted d where d.place = c.place));
end
$$;
comment on function pawl._count_living(text, int[], timestamptz) is 'living runs by workflow and state, counted up to a limit';

create or replace function pawl.count_runs(only_workflow text default null, only_tenant text default null, since interval default '1 day')
returns table (workflow text, status text, runs bigint, more boolean, counted_until timestamptz)
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
    v_tenant text := coalesce(pawl._bound_tenant('count_runs'), only_tenant);
    v_queues int[] := pawl._queues_named(only_workflow);
    v_from timestamptz;
begin
    -- A time further back is outside the range of timestamps.
    -- guard:count_since
    if since is null or since < interval '0' or since > interval '1000 years' then
        perform pawl._raise('PW003', 'since must be between 0 and 1000 years');
    end if;
    if v_tenant <> only_tenant or cardinality(v_queues) = 0 then
        return;
    end if;
    v_from := pawl._shift(v_now, - since);
    return query
    select w.name, l.status, l.n, l.more, null::timestamptz
    from pawl._count_living(v_tenant, v_queues, v_now) l
    left join pawl_data.workflow w on w.workflow_id = l.workflow_id
    union all
    select w.name, s.status, s.n::bigint, false, pawl._counted_until(v_now)
    from pawl_data.workflow w
    cross join lateral (
        select sum(m.succeeded) as succeeded, sum(m.failed) as failed, sum(m.cancelled) as cancelled
        from pawl_data.metric m
        where m.workflow_id = w.workflow_id and m.minute >= v_from and (v_tenant is null or m.tenant = v_tenant)
    ) m
    cross join lateral (values ('SUCCESS', m.succeeded), ('ERROR', m.failed), ('CANCELLED', m.cancelled)) s (status, n)
    where s.n > 0 and (v_queues is null or w.queue_id = any (v_queues))
    order by 1, 2;
end
$$;
comment on function pawl.count_runs(text, text, interval) is
'Numbers of runs by workflow and state. Living runs are counted now, up to 10,000 tasks of each kind of place (ready, in a lane, held, waiting, suspect); more says that there are others. The places held and waiting are counted up to 10,000 of all tenants and workflows: if tasks of others take part of that, or of another place, the last row has no workflow and no status, 0 runs, and more. A run of a flow counts once, and not while it waits for child runs alone. Ended runs are rounds that ended within since, as housekeeping has counted them until counted_until (see metrics). only_workflow may be a prefix pattern.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW003 since is less than 0 or more than 1000 years.
Limits: 10,000 tasks of each place.';

-- Runs whose id begins with these hexadecimal digits, newest first.
create or replace function pawl._runs_beginning(p_digits text, p_max int)
returns uuid[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
declare
    v_from uuid := rpad(p_digits, 32, '0')::uuid;
    v_to uuid := rpad(p_digits, 32, 'f')::uuid;
    v_tenant text := pawl._bound_tenant(null);
    -- Days past their retention are left out, as in _runs_before().
    v_first uuid := greatest(v_from, pawl._first_id('run', pawl.now()));
begin
    return array(
        select f.run_id
        from (
            (select t.run_id, t.tenant from pawl_data.task t
             where t.run_id between v_from and v_to and t.task_no = 0 order by t.run_id desc limit 1000)
            union all
            (select r.run_id, r.tenant from pawl_data.run r where r.run_id between v_first and v_to order by r.run_id desc, r.round desc limit 1000)
            union all
            (select k.run_id, k.tenant from pawl_data.run_kept k where k.run_id between v_from and v_to order by k.run_id desc, k.round desc limit 1000)
        ) f
        where v_tenant is null or f.tenant = v_tenant
        group by f.run_id
        order by f.run_id desc
        limit p_max);
end
$$;
comment on function pawl._runs_beginning(text, int) is 'runs whose id begins with these digits';

create or replace function pawl.find(word text, only_tenant text default null, max_rows int default 20)
returns table (what text, name text, run_id uuid, workflow text, tenant text, status text, at timestamptz)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_tenant text := coalesce(pawl._bound_tenant('find'), only_tenant);
    v_max int := least(greatest(max_rows, 0), 100);
    v_digits text := lower(replace(word, '-', ''));
begin
    if word is null or word = '' or v_tenant <> only_tenant then
        return;
    end if;
    if v_digits ~ '^[0-9a-f]{8,32}$' then
        return query
        select 'run', o.run_id::text, o.run_id, o.workflow, o.tenant, o.status, o.triggered_at
        from pawl._overview(pawl._runs_beginning(v_digits, v_max), v_now, null) o
        where v_tenant is null or o.tenant = v_tenant
        order by o.run_id desc;
    end if;
    return query
    select 'key', o.key, o.run_id, o.workflow, o.tenant, o.status, o.triggered_at
    from pawl._overview((select (h.run_ids)[:v_max] from pawl._key_holders(word, v_tenant, null) h), v_now, null) o
    order by o.run_id desc;
    return query
    select 'tag', word, o.run_id, o.workflow, o.tenant, o.status, o.triggered_at
    from pawl._overview(pawl._tagged_before(word, v_tenant, pawl._id_floor(v_now + interval '2 hours'), pawl._id_floor('1970-01-02'), v_max), v_now, null) o
    order by o.run_id desc;
    return query
    select 'workflow', w.name, null::uuid, w.name, null::text, null::text, w.created_at
    from pawl_data.workflow w
    where starts_with(w.name, word)
    order by w.name
    limit v_max;
    return query
    select 'worker', k.name, null::uuid, null::text, k.tenant, pawl._session_state(k, v_now), k.registered_at
    from pawl_data.worker k
    -- guard:find_workers_of_tenant
    where k.ended_at is null and (v_tenant is null or k.tenant = v_tenant) and (starts_with(k.name, word) or k.session_id::text = word)
    order by k.registered_at desc
    limit v_max;
    return query
    select 'topic', o.topic, null::uuid, null::text, o.tenant, null::text, max(o.touched_at)
    from (
        -- The index begins with the tenant.
        select p.tenant, p.topic, p.touched_at from pawl_data.topic p where p.tenant = coalesce(v_tenant, '') and p.topic = word limit 1000
    ) o
    group by o.topic, o.tenant;
end
$$;
comment on function pawl.find(text, text, int) is
'What a word may stand for: runs whose id it is or begins (8 or more hexadecimal digits), runs that it is the key of, the newest runs that it is a tag of, workflows and workers that have not ended whose name begins with it, a session by its number, and a topic of this name. what says which. Topics are searched for in tenant only_tenant, by default in the empty one.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: max_rows of each kind, at most 100; 1,000 runs examined of an id''s beginning.';

create or replace function pawl.list_states(runs uuid[])
returns table (run_id uuid, status text, reason text, round int, execution int, steps bigint, mark text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
begin
    if cardinality(runs) > 1000 then
        -- guard:states_max
        perform pawl._raise('PW009', format('%s runs in one call, the limit is 1000', cardinality(runs)));
    end if;
    -- The mark is made of all that get_run() reads: the versions of the rows, and what follows from the time and from heartbeats.
    return query
    select o.run_id, o.status, o.reason, o.round, o.execution, s.n,
           md5(concat_ws(' ', o.status, o.reason, o.round, o.worker, o.ended_at, t.rows, s.n, s.rows, w.rows, t.running))
    from pawl._overview(runs, v_now, 'list_states') o
    cross join lateral (
        select string_agg(x.xmin::text, ' ' order by x.task_no) as rows,
               string_agg((select string_agg(g.step || ' ' || g.attempt, ' ' order by g.step) from pawl._running_steps(x, v_now) g), ' ' order by x.task_no) as running
        from pawl_data.task x where x.run_id = o.run_id
    ) t
    cross join lateral (
        select sum(x.n)::bigint as n, sum(x.rows) as rows
        from (
            select count(*) as n, sum(x.xmin::text::bigint) as rows from pawl_data.step x where x.run_id = o.run_id
            union all
            select count(*), sum(k.xmin::text::bigint) from pawl_data.step_kept k where k.run_id = o.run_id
        ) x
    ) s
    cross join lateral (select sum(x.xmin::text::bigint) as rows from pawl_data.wait x where x.run_id = o.run_id) w
    order by o.run_id;
end
$$;
comment on function pawl.list_states(uuid[]) is
'The states of many runs at once, for a caller that watches them. steps is the number of records. mark is a text that is another one whenever get_run would show something else; it may change without that. A run that does not exist has no row.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW009 more than 1,000 ids.
Limits: 1,000 runs; the number of their records.';

-- The steps of rounds, as list_ended() has them: names, times and failed attempts, without what they returned. A record that a fork was made with is a
-- step of another run.
create or replace function pawl._ended_steps(p_ids uuid[])
returns table (run_id uuid, round smallint, n bigint, steps json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    with trail as materialized (
        select a.run_id, a.audit_no, a.task_no, a.at, a.what, a.detail from pawl_data.audit a
        where a.run_id = any (p_ids) and a.what in ('attempt_failed', 'forked_from')
        union all
        select k.run_id, k.audit_no, k.task_no, k.at, k.what, k.detail from pawl_data.audit_kept k
        where k.run_id = any (p_ids) and k.what in ('attempt_failed', 'forked_from')
    ), source as materialized (
        select a.run_id, (a.detail ->> 'run')::uuid as source_id from trail a where a.what = 'forked_from'
    ), record as (
        select s.run_id, s.round, s.task_no, s.seq, s.name, s.kind, s.state, s.attempt, s.started_at, s.ended_at, s.source_id
        from pawl_data.step s where s.run_id = any (p_ids)
        union all
        select k.run_id, k.round, k.task_no, k.seq, k.name, k.kind, k.state, k.attempt, k.started_at, k.ended_at, k.source_id
        from pawl_data.step_kept k where k.run_id = any (p_ids)
    ), ended as materialized (
        select r.run_id, r.round, r.ended_at, r.queue_id, lag(r.ended_at) over (partition by r.run_id order by r.round) as after
        from pawl._runs(p_ids) r
    ), failed as materialized (
        -- Attempts of a flow's task have no step: they are those of its handler.
        select a.run_id, e.round, a.task_no, coalesce(a.detail ->> 'step', '') as step,
               json_agg(json_build_object('attempt', a.detail -> 'failures', 'ended_at', a.at, 'code', a.detail -> 'error' ->> 'code') order by a.audit_no) as attempts
        from trail a
        -- guard:ended_attempts
        join ended e on e.run_id = a.run_id and a.at > coalesce(e.after, '-infinity') and a.at <= e.ended_at
        where a.what = 'attempt_failed'
        group by 1, 2, 3, 4
    )
    select e.run_id, e.round, count(*),
           json_agg(json_build_object(
               'name', case when s.task_no > 0 then pawl._task_label(f.name, s.task_no, s.name) else s.name end,
               'branch', substring(s.name from '^(?:rollback:)?(.*)/[^/]*$'), 'kind', pawl._kind_name(s.kind), 'state', pawl._state_name(s.state),
               'attempt', s.attempt, 'started_at', s.started_at, 'ended_at', s.ended_at,
               'child', case when s.kind = 'c' then s.source_id end, 'failed_attempts', t.attempts)
               order by s.started_at, s.task_no, s.seq, s.name)
    from record s
    join ended e on e.run_id = s.run_id and e.round = s.round
    join pawl_data.queue q on q.queue_id = e.queue_id
    left join pawl_data.flow_step f on s.task_no > 0 and f.workflow_id = q.workflow_id and f.step_no = pawl._step_of(s.task_no)
    left join failed t on t.run_id = s.run_id and t.round = s.round and t.task_no = s.task_no
        and t.step = case when s.task_no = 0 or strpos(s.name, '#') > 0 then s.name else '' end
    -- guard:ended_copies
    where not exists (select from source o where o.run_id = s.run_id and o.source_id = s.source_id)
    group by e.run_id, e.round;
end
$$;
comment on function pawl._ended_steps(uuid[]) is 'the steps of ended rounds as JSON';

create or replace function pawl.list_ended(
    since timestamptz, before timestamptz default null, only_tenant text default null, cursor uuid default null, max_rows int default 1000)
returns table (
    run_id uuid, workflow text, tenant text, status text, round int, execution int, triggered_at timestamptz, started_at timestamptz,
    ended_at timestamptz, worker text, parent_id uuid, error_code text, error_line text, traceparent text, tracestate text, steps json, next_cursor uuid)
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
    v_before timestamptz := coalesce(before, since + interval '1 min');
    v_tenant text := coalesce(pawl._bound_tenant('list_ended'), only_tenant);
    v_max int := least(greatest(max_rows, 0), 1000);
    v_ids uuid[];
    v_piece uuid[];
    v_steps bigint := 0;
    v_done int := 0;
    v_ended record;
    v_metadata json;
begin
    -- guard:ended_window
    if since is null or v_before < since or v_before > since + interval '1 min' then
        perform pawl._raise('PW003', 'since must be given, and before be at most a minute later');
    end if;
    if v_max = 0 or v_tenant <> only_tenant then
        return;
    end if;
    -- One more than are listed, so that it is known whether there are others.
    v_ids := array(
        select distinct e.run_id
        from pawl._ended_between(since, v_before) e
        -- guard:ended_tenant
        where (v_tenant is null or e.tenant = v_tenant) and (cursor is null or e.run_id > cursor)
        order by e.run_id
        limit v_max + 1);
    -- Pieces of 50 runs, so that a thousand runs with many steps are not read at once.
    -- guard:ended_steps_max
    while v_done < least(cardinality(v_ids), v_max) and v_steps < 100000 loop
        v_piece := v_ids[v_done + 1:least(v_done + 50, v_max)];
        v_done := v_done + cardinality(v_piece);
        for v_ended in
            select r.*, q.name as workflow, w.name as worker, s.n, s.steps
            from pawl._runs(v_piece) r
            join pawl_data.queue q on q.queue_id = r.queue_id
            left join pawl_data.worker w on w.session_id = r.session_id
            left join pawl._ended_steps(v_piece) s on s.run_id = r.run_id and s.round = r.round
            where r.ended_at >= since and r.ended_at < v_before
            order by r.run_id, r.round
        loop
            v_steps := v_steps + coalesce(v_ended.n, 0);
            -- 1. A triggers a run with \u0000 in its metadata, which json accepts. 2. B lists the minute in which that run ends. Without this the
            -- call would fail for all runs of the minute.
            -- guard:ended_readable
            v_metadata := pawl._readable(v_ended.metadata::text)::json;
            return query
            select v_ended.run_id, v_ended.workflow, v_ended.tenant, pawl._state_name(v_ended.status), v_ended.round::int, v_ended.execution,
                   v_ended.triggered_at, v_ended.started_at, v_ended.ended_at, v_ended.worker, v_ended.parent_id, v_ended.error ->> 'code',
                   pawl._error_line(v_ended.error, 120), v_metadata ->> 'traceparent', v_metadata ->> 'tracestate',
                   coalesce(v_ended.steps, '[]'), null::uuid;
        end loop;
    end loop;
    if v_done < cardinality(v_ids) then
        next_cursor := v_ids[v_done];
        return next;
    end if;
end
$$;
comment on function pawl.list_ended(timestamptz, timestamptz, text, uuid, int) is
'The rounds of runs that ended within a time, from since until before, by default a minute later, with the names and times of the steps that each has recorded: for traces, and for copies of history. Rows are in the order of run ids. traceparent and tracestate are those of the metadata. steps has no outputs; each step has its branch, the number of its last attempt, the run of its child, and time and error code of its failed_attempts. Records that a fork was made with are not in it. A transaction that ends a run may commit later than it says: ask for a time that is at least a minute ago, then none is missed. If there are more, the last row has no run, only the cursor to continue with.
If repeated: returns the same, except what was purged since.
Locks: none.
Errors: PW003 no since, or before is earlier, or more than a minute later.
Limits: a minute, 1,000 runs; a page is shorter once it has 100,000 steps.';
