-- SPDX-License-Identifier: Apache-2.0
-- Lists: waits, queues, workers, workflows, events, and metrics.

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

create or replace function pawl.list_waits(only_run uuid default null, only_approvals boolean default false, only_tenant text default null, cursor uuid default null, max_rows int default 100)
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
    v_bound text := coalesce(pawl._bound_tenant('list_waits'), only_tenant);
    v_max_rows int := least(greatest(max_rows, 0), 1000);
begin
    return query
    with page as (
        select w.*, row_number() over (order by w.run_id, w.task_no, w.seq) as n
        from pawl_data.wait w
        where (only_run is null or w.run_id = only_run) and w.kind <> 'l' and (not only_approvals or w.kind = 'a')
          and (v_bound is null or w.tenant = v_bound) and (cursor is null or w.run_id > cursor)
        order by w.run_id, w.task_no, w.seq
        limit v_max_rows + 1
    )
    select w.run_id, w.name, pawl._kind_name(w.kind), w.topic, w.key, w.match, w.form, w.child_id, w.created_at,
           nullif(w.due_at, 'infinity')
    from page w
    -- A run whose waits are not all on this page is left to the next one, which begins after the last run of this page. Without this test
    -- its remaining waits would never be listed.
    -- guard:waits_whole_run
    where w.n <= v_max_rows and (w.run_id not in (select p.run_id from page p where p.n > v_max_rows)
                             or w.run_id = (select p.run_id from page p where p.n = 1))
    order by w.n;
end
$$;
comment on function pawl.list_waits(uuid, boolean, text, uuid, int) is
'Open waits, of one run or of all, in the order of run ids; with only_approvals only what waits for a human decision, with its form. Pass the last run as cursor to go on: a page has all waits of its runs, unless one run alone has more.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 1,000 rows.';

-- Since when the first ready task of a queue has been due, of one tenant or of all.
create or replace function pawl._first_due(p_queue int, p_tenant text)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Among the first 10,000 that wait in lanes.
    v_in_lane timestamptz := (
        select min(c.due_at)
        from (
            select w.due_at from pawl_data.lane_task w
            where w.queue_id = p_queue and w.lane between pawl._lane_bound(p_tenant, false) and pawl._lane_bound(p_tenant, true)
            limit 10000
        ) c);
begin
    -- Uses task_tenant_idx, as a claim does.
    -- guard:first_due_by_tenant
    if p_tenant <> '' then
        return least(v_in_lane, (
            select t.due_at from pawl_data.task t
            where t.tenant = p_tenant and t.tenant <> '' and t.place::text = 'r' and t.queue_id = p_queue
            order by t.priority, t.due_at limit 1));
    end if;
    return least(v_in_lane, (
        select t.due_at from pawl_data.task t
        where t.place = 'r' and t.queue_id = p_queue and (p_tenant is null or t.tenant = p_tenant)
        order by t.priority, t.due_at limit 1));
end
$$;
comment on function pawl._first_due(int, text) is 'when the first ready task of a queue became due';

create or replace function pawl.list_queues(max_rows int default 1000)
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
    v_bound text := pawl._bound_tenant('list_queues');
    v_low uuid := pawl._lane_bound(v_bound, false);
    v_high uuid := pawl._lane_bound(v_bound, true);
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
             where coalesce(v_bound, '') = '' and t.place = 'r' and t.queue_id = q.queue_id and (v_bound is null or t.tenant = v_bound)
             limit 10001)
            union all
            -- Uses task_tenant_idx, as a claim does.
            (select from pawl_data.task t
             where v_bound <> '' and t.tenant = v_bound and t.tenant <> '' and t.place::text = 'r' and t.queue_id = q.queue_id
             limit 10001)
            union all
            -- Those that wait in lanes; the lanes of a tenant are one range.
            -- guard:queues_by_lane
            (select from pawl_data.lane_task w where w.queue_id = q.queue_id and w.lane between v_low and v_high limit 10001)
        ) c
    ) d
    -- Held tasks and live workers are read once, not for each queue.
    left join (
        select t.queue_id, count(*) as n from pawl_data.task t
        where t.place = 'h' and (v_bound is null or t.tenant = v_bound)
        group by t.queue_id
    ) h on h.queue_id = q.queue_id
    left join (
        select u.queue_id, sum(g.n)::int as n
        from pawl._live_workers(v_now, v_bound) g
        cross join unnest(g.queue_ids) u (queue_id)
        group by u.queue_id
    ) k on k.queue_id = q.queue_id
    order by q.name
    limit least(greatest(max_rows, 0), 10000);
end
$$;
comment on function pawl.list_queues(int) is
'Queues with what is ready (counted up to 10,000, then shown as 10k+), held, how long the first ready task has been due, live workers, and whether it is paused.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 10,000 tasks counted for each queue.';

create or replace function pawl._session_state(p_worker pawl_data.worker, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_worker.ended_at is not null then 'ended'
                when not pawl._is_live(p_worker.session_id, p_worker.ended_at, p_worker.lease_until, p_now) then 'lost'
                when p_worker.draining then 'draining' when p_worker.starved_since is not null then 'starved'
                -- Between a claim and its commit a worker may rest, and hold what it has claimed before.
                -- guard:idle_holds_nothing
                when p_worker.idle and not exists (
                    select from pawl_data.task t where t.place = 'h' and t.session_id = p_worker.session_id) then 'idle' else 'live' end;
end
$$;
comment on function pawl._session_state(pawl_data.worker, timestamptz) is 'the state of a worker session';

create or replace function pawl.list_workers(ended boolean default false, max_rows int default 1000)
returns table (session bigint, worker text, state text, handles text[], runtimes text[], held bigint, lease_until timestamptz, registered_at timestamptz, ended_at timestamptz, ended_why text, running json, notice text, client text, version text)
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
    v_bound text := pawl._bound_tenant('list_workers');
    v_notice text := case when pawl._keeper_missing(v_now) then pawl._keeper_cure() end;
begin
    return query
    select w.session_id, w.name,
           pawl._session_state(w, v_now),
           w.handles, w.runtimes,
           (select count(*) from (select from pawl_data.task t where t.place = 'h' and t.session_id = w.session_id limit 10001) c),
           w.lease_until, w.registered_at, w.ended_at, w.ended_why, w.running, v_notice, w.client, w.version
    from pawl_data.worker w
    where (ended or w.ended_at is null) and (v_bound is null or w.tenant = v_bound)
    order by w.registered_at desc
    limit least(greatest(max_rows, 0), 10000);
end
$$;
comment on function pawl.list_workers(boolean, int) is
'Worker sessions: what they are (client), the version of their code, what they handle, what they hold, until when their lease is live; with ended also ended sessions. state is live, idle, starved (its program takes no runs), draining, lost or ended. notice reports, in every row, a missing keeper: no caller does housekeeping for all tenants.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 10,000 sessions.';

-- Returns until when ended runs have been counted; null if none has been.
create or replace function pawl._counted_until(p_now timestamptz)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- A position more than an hour ahead means that the clock was moved backward, and that counting begins again.
    return (select to_timestamp(c.position::float8) from pawl_data.chore c
            where c.chore = 'rollup' and c.position::float8 <= date_part('epoch', p_now) + 3600);
end
$$;
comment on function pawl._counted_until(timestamptz) is 'until when housekeeping has counted ended runs';

-- The duration that a share of the counted runs did not exceed: within its bucket, durations are taken to be spread evenly. p_max: the longest.
create or replace function pawl._quantile(p_buckets bigint[], p_max double precision, p_share double precision)
returns double precision
language plpgsql
immutable
strict
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bounds double precision[] := pawl._bounds();
    v_rank double precision := p_share * (select sum(b) from unnest(p_buckets) b);
    v_before double precision := 0;
    v_lower double precision := 0;
begin
    for v_no in 1..cardinality(p_buckets) loop
        if p_buckets[v_no] > 0 and v_before + p_buckets[v_no] >= v_rank then
            -- The last bucket has no bound, and none is longer than the longest.
            -- guard:quantile_max
            return least(v_lower + (coalesce(v_bounds[v_no], p_max) - v_lower) * (v_rank - v_before) / p_buckets[v_no], p_max);
        end if;
        v_before := v_before + p_buckets[v_no];
        v_lower := v_bounds[v_no];
    end loop;
    return null;
end
$$;
comment on function pawl._quantile(bigint[], double precision, double precision) is 'the duration that a share of runs did not exceed';

create or replace function pawl.metrics(only_workflow text default null, since interval default '1 hour')
returns table (
    workflow text, succeeded bigint, failed bigint, cancelled bigint, per_second double precision, mean_seconds double precision,
    max_seconds double precision, mean_wait_seconds double precision, oldest_ready interval, counted_until timestamptz,
    success_share double precision, p50_seconds double precision, p95_seconds double precision, p99_seconds double precision)
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
    v_bound text := pawl._bound_tenant('metrics');
    v_until timestamptz := pawl._counted_until(v_now);
    v_from timestamptz;
begin
    -- A time further back is outside the range of timestamps.
    -- guard:metrics_since
    if since < interval '0' or since > interval '1000 years' then
        perform pawl._raise('PW003', 'since must be between 0 and 1000 years');
    end if;
    v_from := pawl._shift(v_now, - since);
    return query
    with counted as materialized (
        select m.*
        from pawl_data.workflow w
        -- Offset 0: read for each workflow by the index, which begins with it, and never all minutes of all workflows.
        cross join lateral (select m.* from pawl_data.metric m where m.workflow_id = w.workflow_id and m.minute >= v_from offset 0) m
        where (only_workflow is null or w.name = only_workflow) and (v_bound is null or m.tenant = v_bound)
    ), histogram as (
        select b.workflow_id, array_agg(b.n order by b.no) as buckets
        from (
            select c.workflow_id, u.no, sum(u.n)::bigint as n
            from counted c
            cross join unnest(c.seconds_buckets) with ordinality u (n, no)
            group by c.workflow_id, u.no
        ) b
        group by b.workflow_id
    ), total as (
        select c.workflow_id, sum(c.succeeded) as succeeded, sum(c.failed) as failed, sum(c.cancelled) as cancelled,
               sum(c.succeeded + c.failed + c.cancelled) as ended, sum(c.seconds_sum) as seconds_sum, max(c.seconds_max) as seconds_max,
               sum(c.waited_sum) as waited_sum
        from counted c
        group by c.workflow_id
    )
    select w.name, coalesce(t.succeeded, 0)::bigint, coalesce(t.failed, 0)::bigint, coalesce(t.cancelled, 0)::bigint,
           coalesce(t.ended, 0)::double precision / greatest(date_part('epoch', since), 1),
           t.seconds_sum / nullif(t.ended, 0)::double precision, t.seconds_max,
           t.waited_sum / nullif(t.ended, 0)::double precision, v_now - pawl._first_due(w.queue_id, v_bound), v_until,
           t.succeeded::double precision / nullif(t.succeeded + t.failed, 0)::double precision,
           pawl._quantile(h.buckets, t.seconds_max, 0.5), pawl._quantile(h.buckets, t.seconds_max, 0.95),
           pawl._quantile(h.buckets, t.seconds_max, 0.99)
    from pawl_data.workflow w
    left join total t on t.workflow_id = w.workflow_id
    left join histogram h on h.workflow_id = w.workflow_id
    where only_workflow is null or w.name = only_workflow
    order by w.name
    limit 10000;
end
$$;
comment on function pawl.metrics(text, interval) is
'Ended runs by workflow within the time: counts, rate, durations, time from trigger to start, and how long the first ready run has been due. success_share is the part of the runs that succeeded among those that succeeded or failed. p50_seconds, p95_seconds and p99_seconds are durations that this part of the started runs did not exceed, estimated from a histogram with the bounds 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200 and 86400 seconds. Housekeeping counts each minute once, about two minutes after it has passed: runs that ended after counted_until are not in the counts. If no caller calls tick(), as without a live worker, nothing is counted; counted_until is null until the first count.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW003 since is less than 0 or more than 1000 years.
Limits: 10,000 workflows.';

create or replace function pawl.list_workflows(
    only_workflow text default null, cursor text default null, max_rows int default 100, only_flows boolean default false)
returns table (
    workflow text, runtime text, priority int, max_attempts int, base interval, factor double precision, cap interval,
    jitter double precision, run_timeout interval, step_timeout interval, strict_order boolean, description text,
    created_at timestamptz, paused boolean, workers int, flow boolean, key_limit int, fair boolean, key_rate text, key_burst int,
    held_limit int, limit_name text, limit_while text, expires interval)
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
           coalesce(k.n, 0), w.flow, w.key_limit, w.fair, w.key_rate, w.key_burst, c.most, c.name, w.limit_while, w.expires
    from pawl_data.workflow w
    left join (
        select h.workflow_id, sum(h.n)::int as n
        from (
            -- A worker of several steps of a flow counts once.
            select distinct q.workflow_id, g.no, g.n
            from pawl._live_workers(pawl.now(), pawl._bound_tenant('list_workflows')) with ordinality g (queue_ids, n, no)
            cross join unnest(g.queue_ids) u (queue_id)
            join pawl_data.queue q on q.queue_id = u.queue_id
        ) h
        group by h.workflow_id
    ) k on k.workflow_id = w.workflow_id
    left join pawl_data.lane_queue l on l.queue_id = w.queue_id
    left join pawl_data.held_limit c on c.limit_no = l.limit_no
    where (only_workflow is null or w.name = only_workflow
           or right(only_workflow, 1) = '*' and starts_with(w.name, left(only_workflow, -1)))
      and (cursor is null or w.name > cursor)
      and (w.flow or not only_flows)
    order by w.name
    limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_workflows(text, text, int, boolean) is
'Workflows by name, with their options, whether they are paused, how many live workers handle them or, of a flow, at least one of its steps, and whether they are flows. only_workflow may be a prefix pattern; with only_flows, only flows. Pass the last name as cursor to go on.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 1,000 rows.';

create or replace function pawl.get_workflow(name text)
returns table (
    workflow text, runtime text, priority int, max_attempts int, base interval, factor double precision, cap interval,
    jitter double precision, run_timeout interval, step_timeout interval, strict_order boolean, description text,
    created_at timestamptz, paused boolean, workers int, flow boolean, key_limit int, fair boolean, key_rate text, key_burst int,
    held_limit int, limit_name text, limit_while text, expires interval, input_schema json)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform pawl._bound_tenant('get_workflow');
    return query
    select l.*, s.input_schema
    from pawl_data.workflow w
    -- A name has no *, so only this workflow is listed.
    cross join lateral pawl.list_workflows(w.name) l
    left join pawl_data.input_schema s on s.workflow_id = w.workflow_id
    where w.name = get_workflow.name;
    if not found then
        perform pawl._raise('PW002', format('unknown workflow "%s"', name), 'List them: select workflow from pawl.list_workflows().');
    end if;
end
$$;
comment on function pawl.get_workflow(text) is
'One workflow: a row of list_workflows, and its input_schema, which that list leaves out because it may have 64 kB.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW002 unknown workflow.
Limits: one row.';

create or replace function pawl.list_events(
    only_topic text default null, only_key text default null, only_tenant text default null,
    since timestamptz default null, before timestamptz default null, cursor uuid default null, max_rows int default 50)
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
    v_bound text := pawl._bound_tenant('list_events');
    v_cursor uuid := coalesce(pawl._cursor_id(cursor), pawl._id_floor(least(coalesce(before, v_now + interval '2 hours'), v_now + interval '2 hours')));
    -- Days past their retention are left out, as in _runs_before().
    v_since uuid := greatest(pawl._id_floor(greatest(coalesce(since, '1970-01-02'), '1970-01-02')), pawl._first_id('event', v_now));
    v_max_rows int := least(greatest(max_rows, 0), 1000);
    v_found int;
begin
    -- At most 10,000 events are examined; then the cursor is where the next call continues.
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
    limit v_max_rows;
    get diagnostics v_found = row_count;
    if v_found < v_max_rows then
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
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 10,000 events looked at, 1,000 rows.';
