-- SPDX-License-Identifier: Apache-2.0
-- Searching for runs: by key and for failures by an index, otherwise one by one, newest first, with a bound.

-- The queues of runs of a workflow, or of all that a prefix pattern names; null: of any.
create or replace function pawl._queues_named(p_workflow text)
returns int[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_workflow is not null then array(
        select w.queue_id
        from pawl_data.workflow w
        where w.name = p_workflow or right(p_workflow, 1) = '*' and starts_with(w.name, left(p_workflow, -1))) end;
end
$$;
comment on function pawl._queues_named(text) is 'the queues of the workflows that a filter names';

-- The runs that a key stands for. forever: each of them has the key while it is retained, so that no other run can have had it since.
create or replace function pawl._key_holders(p_key text, p_tenant text, p_queues int[], out run_ids uuid[], out forever boolean)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    select array_agg(k.run_id), bool_and(k.expires_at is null) and count(*) <= 10000
    into run_ids, forever
    from (
        select k.run_id, k.expires_at
        from pawl_data.key k
        where k.key = p_key and (p_tenant is null or k.tenant = p_tenant)
          and (p_queues is null or k.workflow_id in (select q.workflow_id from pawl_data.queue q where q.queue_id = any (p_queues)))
        limit 10001
    ) k;
end
$$;
comment on function pawl._key_holders(text, text, int[]) is 'the runs that a key stands for';

-- Examines up to p_max runs of each table below p_before, newest first. ids: runs that may pass the filters. reached: where the search
-- stopped; all newer runs were examined. Null means that there are no more runs. _failed_before() searches for p_status ERROR.
create or replace function pawl._runs_before(
    p_before uuid, p_since uuid, p_max int, p_tenant text, p_queues int[], p_key text, p_status text,
    out ids uuid[], out reached uuid)
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
    v_code "char" := pawl._status_code(p_status);
    v_places "char"[] := case p_status when 'RUNNING' then '{h,o}'::"char"[] when 'PAUSED' then '{w,o}' else '{r,l,w,h,s,o}' end;
    -- Days past their retention are empty, or about to be, and may be locked for that.
    -- guard:list_retained
    v_first uuid := greatest(p_since, pawl._first_id('run', pawl.now()));
begin
    with living as materialized (
        select t.run_id, (p_tenant is null or t.tenant = p_tenant) and (p_queues is null or t.queue_id = any (p_queues))
                         and (p_key is null or t.key = p_key) and t.place = any (v_places) as fits
        from pawl_data.task t
        where v_code is null and t.run_id < p_before and t.run_id >= p_since and t.task_no = 0
        order by t.run_id desc
        limit p_max
    ), ended as materialized (
        select r.run_id, (p_tenant is null or r.tenant = p_tenant) and (p_queues is null or r.queue_id = any (p_queues))
                         and (p_key is null or r.key = p_key) and (v_code is null or r.status = v_code) as fits
        from pawl_data.run r
        where (v_code is not null or p_status is null) and r.run_id < p_before and r.run_id >= v_first
        order by r.run_id desc, r.round desc
        limit p_max
    ), kept as materialized (
        select k.run_id, (p_tenant is null or k.tenant = p_tenant) and (p_queues is null or k.queue_id = any (p_queues))
                         and (p_key is null or k.key = p_key) and (v_code is null or k.status = v_code) as fits
        from pawl_data.run_kept k
        where (v_code is not null or p_status is null) and k.run_id < p_before and k.run_id >= p_since
        order by k.run_id desc, k.round desc
        limit p_max
    ), stop as materialized (
        -- 1. Living runs are few, so the search has examined them far into the past. Ended runs are many, and it has only reached
        -- yesterday. 2. The next part of the search begins where this one stopped. If that were the older of the two places, ended runs of
        -- yesterday and before would never be examined.
        -- guard:search_skips_no_run
        select greatest(
            (select l.run_id from living l order by l.run_id desc offset p_max - 1 limit 1),
            (select e.run_id from ended e order by e.run_id desc offset p_max - 1 limit 1),
            (select k.run_id from kept k order by k.run_id desc offset p_max - 1 limit 1)) as run_id
    )
    select array(
               select l.run_id from living l, stop s where l.fits and (s.run_id is null or l.run_id >= s.run_id)
               union
               select e.run_id from ended e, stop s where e.fits and (s.run_id is null or e.run_id >= s.run_id)
               union
               select k.run_id from kept k, stop s where k.fits and (s.run_id is null or k.run_id >= s.run_id)),
           (select s.run_id from stop s)
    into ids, reached;
end
$$;
comment on function pawl._runs_before(uuid, uuid, int, text, int[], text, text) is 'runs below a place that may pass filters, and where the search stopped';

-- The same for failed runs, by the index of failures: one row for each that was examined. fits: its last round failed, it has not been
-- retried since, and it passes the filters.
create or replace function pawl._failed_before(p_before uuid, p_since uuid, p_max int, p_tenant text, p_queues int[], p_key text)
returns table (
    run_id uuid, queue_id int, tenant text, round int, execution int, priority int, key text, triggered_at timestamptz, started_at timestamptz,
    ended_at timestamptz, session_id bigint, parent_id uuid, error json, fits boolean)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Days past their retention are left out, as in _runs_before().
    v_first uuid := greatest(p_since, pawl._first_id('run', pawl.now()));
begin
    return query
    select f.run_id, f.queue_id, f.tenant, f.round::int, f.execution, f.priority::int, f.key, f.triggered_at, f.started_at, f.ended_at,
           f.session_id, f.parent_id, f.error,
           (p_tenant is null or f.tenant = p_tenant) and (p_queues is null or f.queue_id = any (p_queues)) and (p_key is null or f.key = p_key)
           -- 1. A run fails. 2. An operator retries it, and it runs again. Without the test it would be listed as failed.
           -- Offset 0: looked up for each, and never by a hash of all living runs.
           -- guard:failed_lives
           and not exists (select from pawl_data.task t where t.run_id = f.run_id and t.task_no = 0 offset 0)
           -- 1. A run fails. 2. An operator retries it, and it succeeds. Without the test it would be listed as failed, by its first round.
           -- guard:failed_last_round
           and not case when f.is_kept then exists (select from pawl_data.run_kept l where l.run_id = f.run_id and l.round > f.round)
                        else exists (select from pawl_data.run l where l.run_id = f.run_id and l.round > f.round) end
    from (
        (select r.run_id, r.round, r.queue_id, r.tenant, r.execution, r.priority, r.key, r.triggered_at, r.started_at, r.ended_at, r.session_id,
                r.parent_id, r.error, false as is_kept
         from pawl_data.run r
         where r.status = 'e' and r.run_id < p_before and r.run_id >= v_first
         order by r.run_id desc, r.round desc
         limit p_max)
        union all
        (select k.run_id, k.round, k.queue_id, k.tenant, k.execution, k.priority, k.key, k.triggered_at, k.started_at, k.ended_at, k.session_id,
                k.parent_id, k.error, true
         from pawl_data.run_kept k
         where k.status = 'e' and k.run_id < p_before and k.run_id >= p_since
         order by k.run_id desc, k.round desc
         limit p_max)
    ) f
    order by f.run_id desc, f.round desc
    limit p_max;
end
$$;
comment on function pawl._failed_before(uuid, uuid, int, text, int[], text) is 'failed rounds below a place, by the index of failures';

-- A page of failed runs, as list_runs() has it.
create or replace function pawl._list_failed(p_before uuid, p_since uuid, p_tenant text, p_queues int[], p_key text, p_max int)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, execution int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text,
    next_cursor uuid)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_failed record;
    v_place uuid := p_before;
    v_size int := p_max;
    v_budget int := 10000;
    v_left int := p_max;
    v_examined int;
    -- Names are looked up once for each queue and session, and not for each run.
    v_queues int[] := array[]::int[];
    v_names text[] := array[]::text[];
    v_sessions bigint[] := array[]::bigint[];
    v_workers text[] := array[]::text[];
begin
    loop
        v_examined := 0;
        for v_failed in select f.* from pawl._failed_before(v_place, p_since, v_size, p_tenant, p_queues, p_key) f loop
            v_examined := v_examined + 1;
            v_place := v_failed.run_id;
            continue when not v_failed.fits;
            if v_failed.queue_id <> all (v_queues) then
                v_queues := v_queues || v_failed.queue_id;
                v_names := v_names || (select q.name from pawl_data.queue q where q.queue_id = v_failed.queue_id);
            end if;
            if v_failed.session_id <> all (v_sessions) then
                v_sessions := v_sessions || v_failed.session_id;
                v_workers := v_workers || (select w.name from pawl_data.worker w where w.session_id = v_failed.session_id);
            end if;
            return query
            select v_failed.run_id, v_names[array_position(v_queues, v_failed.queue_id)], v_failed.tenant, 'ERROR', null::text,
                   v_failed.round, v_failed.execution, v_failed.priority, v_failed.key, v_failed.triggered_at, v_failed.started_at,
                   v_failed.ended_at, null::timestamptz, v_workers[array_position(v_sessions, v_failed.session_id)], false, false,
                   v_failed.parent_id, v_failed.error ->> 'code', pawl._error_line(v_failed.error, 120), null::text, null::text, v_failed.run_id;
            v_left := v_left - 1;
            exit when v_left = 0;
        end loop;
        v_budget := v_budget - v_examined;
        if v_left = 0 or v_examined < v_size then
            return;
        end if;
        exit when v_budget <= 0;
        v_size := least(500, v_budget);
    end loop;
    next_cursor := pawl._cursor_at(v_place);
    return next;
end
$$;
comment on function pawl._list_failed(uuid, uuid, text, int[], text, int) is 'a page of failed runs';

-- A page of list_runs(), of one tenant or of all.
create or replace function pawl._list_runs(
    p_tenant text, p_workflow text, p_status text, p_key text, p_tag text, p_since timestamptz, p_before timestamptz, p_cursor uuid, p_max int)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, execution int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text,
    next_cursor uuid)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_queues int[] := pawl._queues_named(p_workflow);
    -- How far the search is: all newer runs were examined. Null: all runs were.
    v_place uuid := coalesce(pawl._cursor_id(p_cursor), pawl._id_floor(least(coalesce(p_before, v_now + interval '2 hours'), v_now + interval '2 hours')));
    v_since uuid := pawl._id_floor(greatest(coalesce(p_since, '1970-01-02'), '1970-01-02'));
    v_left int := least(greatest(p_max, 0), 1000);
    -- How many runs are examined next, and how many more in all.
    v_size int := greatest(v_left, 50);
    v_budget int := 10000;
    v_held uuid[];
    v_forever boolean;
    v_ids uuid[];
    v_found int;
begin
    if v_left = 0 or cardinality(v_queues) = 0 then
        return;
    end if;
    if p_tag is not null then
        return query
        select l.* from pawl._list_tagged(p_tag, v_place, v_since, p_tenant, v_queues, p_key, p_status, v_left, v_now) l;
        return;
    end if;
    if p_key is not null then
        select h.run_ids, h.forever into v_held, v_forever from pawl._key_holders(p_key, p_tenant, v_queues) h;
        -- 1. A run has the key. 2. 10,000 other runs are triggered. 3. A reader searches for the key. Without the table of keys, the
        -- search would examine the 10,000 newer runs and stop before it reaches the run.
        -- guard:key_by_table
        if v_forever then
            return query
            select o.*, o.run_id
            from pawl._overview(array(select h from unnest(v_held) h where h < v_place and h >= v_since), v_now, null) o
            where p_status is null or o.status = p_status
            order by o.run_id desc
            limit v_left;
            return;
        end if;
    end if;
    if p_status = 'ERROR' then
        return query
        select f.* from pawl._list_failed(v_place, v_since, p_tenant, v_queues, p_key, v_left) f;
        return;
    end if;
    while v_budget > 0 and v_place is not null loop
        select f.ids, f.reached into v_ids, v_place
        from pawl._runs_before(v_place, v_since, v_size, p_tenant, v_queues, p_key, p_status) f;
        return query
        select o.*, o.run_id
        from pawl._overview(v_ids, v_now, null) o
        where p_status is null or o.status = p_status
        order by o.run_id desc
        limit v_left;
        get diagnostics v_found = row_count;
        v_left := v_left - v_found;
        if v_left = 0 then
            return;
        end if;
        v_budget := v_budget - v_size;
        v_size := least(greatest(500, 4 * v_size), 2500, v_budget);
    end loop;
    if v_place is null then
        return;
    end if;
    next_cursor := pawl._cursor_at(v_place);
    -- A run that has the key only for a time is listed at once, though runs that had it before are still searched for.
    return query
    select o.*, next_cursor
    from pawl._overview(array(select h from unnest(v_held) h where p_cursor is null and h < v_place and h >= v_since), v_now, null) o
    where p_status is null or o.status = p_status
    order by o.run_id desc
    limit v_left;
    return next;
end
$$;
comment on function pawl._list_runs(text, text, text, text, text, timestamptz, timestamptz, uuid, int) is 'a page of runs';

create or replace function pawl.list_runs(
    only_workflow text default null, only_status text default null, only_tenant text default null,
    only_key text default null, only_tag text default null, since timestamptz default null, before timestamptz default null, cursor uuid default null, max_rows int default 50)
returns table (
    run_id uuid, workflow text, tenant text, status text, reason text, round int, execution int, priority int, key text,
    triggered_at timestamptz, started_at timestamptz, ended_at timestamptz, due_at timestamptz, worker text,
    ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text,
    next_cursor uuid)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_tenant text := coalesce(pawl._bound_tenant('list_runs'), only_tenant);
begin
    if v_tenant <> only_tenant then
        return;
    end if;
    return query
    select l.* from pawl._list_runs(v_tenant, only_workflow, only_status, only_key, only_tag, since, before, cursor, max_rows) l;
end
$$;
comment on function pawl.list_runs(text, text, text, text, text, timestamptz, timestamptz, uuid, int) is
'Lists runs, newest first. reason says what a PAUSED run waits for; for a QUEUED run limit or paused, if its limit key is full or paused. error_code and error_line (the first 120 characters of its first line) are those of the error of a run that failed, or of the failed attempt that is repeated next; wait_kind and wait_name are those of the wait that it opened first, by its topic or else by its name. only_workflow may be a prefix pattern. only_key finds the runs that the key stands for in the table of keys, runs with a tag (only_tag) and failed runs (only_status ERROR) have an index each; any other filter examines runs one by one. Pass next_cursor of the last row as cursor to continue. A search that has examined 10,000 runs without filling its page stops: its last row has no run, only the cursor to continue with. A shorter page without such a row is the last one.
A key stands for its run as long as the run is retained; with key_ttl or key_while_active for a shorter time. If it stands for no run, or for one with such a lifetime, runs that had the key before are searched for like any others, and the run that has it now may be listed first and again in its place. Runs that lost the key are not searched for where it stands for a run that keeps it.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 10,000 runs examined, 1,000 rows.';
