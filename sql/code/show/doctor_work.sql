-- SPDX-License-Identifier: Apache-2.0
-- What keeps the work itself from progressing: queues without a worker, pauses, lost workers, stuck rollbacks, drift, long waits,
-- numbers that stand still. Every search is bounded, whatever the number of runs; one that reached its bound is reported as such.

-- Counted up to 1,000, because only its size matters.
create or replace function pawl._backlog_shown(p_queue int)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_n bigint := (
        select count(*)
        from (
            (select from pawl_data.task t where t.place = 'r' and t.queue_id = p_queue limit 1001)
            union all
            (select from pawl_data.task t where t.place = 's' and t.queue_id = p_queue limit 1001)
            union all
            (select from pawl_data.lane_task w where w.queue_id = p_queue limit 1001)
        ) c);
begin
    return case when v_n > 1000 then 'over 1000 ready tasks' when v_n = 1 then '1 ready task' else v_n || ' ready tasks' end;
end
$$;
comment on function pawl._backlog_shown(int) is 'how many tasks of a queue are ready, in words';

-- Every queue that has a ready or suspect task, with the first of them. Goes from queue to queue in the index and reads no other task.
create or replace function pawl._backlogs()
returns table (queue_id int, due_at timestamptz, tenant text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set enable_sort to off
set jit to off
as $$
#variable_conflict use_column
begin
    return query
    with recursive ready (queue_id) as (
        (select t.queue_id from pawl_data.task t where t.place = 'r' order by t.queue_id limit 1)
        union all
        select (select t.queue_id from pawl_data.task t where t.place = 'r' and t.queue_id > r.queue_id order by t.queue_id limit 1)
        from ready r where r.queue_id is not null
    ), suspect (queue_id) as (
        (select t.queue_id from pawl_data.task t where t.place = 's' order by t.queue_id limit 1)
        union all
        select (select t.queue_id from pawl_data.task t where t.place = 's' and t.queue_id > s.queue_id order by t.queue_id limit 1)
        from suspect s where s.queue_id is not null
    ), in_lane (queue_id) as (
        (select w.queue_id from pawl_data.lane_task w order by w.queue_id limit 1)
        union all
        select (select w.queue_id from pawl_data.lane_task w where w.queue_id > l.queue_id order by w.queue_id limit 1)
        from in_lane l where l.queue_id is not null
    ), found as (
        select r.queue_id from ready r where r.queue_id is not null
        union
        select s.queue_id from suspect s where s.queue_id is not null
        union
        select l.queue_id from in_lane l where l.queue_id is not null
    )
    select f.queue_id, i.due_at, i.tenant
    from found f
    cross join lateral (
        select * from (
            (select t.due_at, t.tenant from pawl_data.task t where t.place = 'r' and t.queue_id = f.queue_id order by t.priority, t.due_at limit 1)
            union all
            (select t.due_at, t.tenant from pawl_data.task t where t.place = 's' and t.queue_id = f.queue_id order by t.priority, t.due_at limit 1)
            union all
            -- The first task of any lane: it is ready like the others.
            (select t.due_at, t.tenant
             from (select w.run_id, w.task_no from pawl_data.lane_task w where w.queue_id = f.queue_id order by w.lane, w.priority, w.due_at limit 1) w
             join pawl_data.task t on t.run_id = w.run_id and t.task_no = w.task_no)
        ) u
        limit 1
    ) i;
end
$$;
comment on function pawl._backlogs() is 'queues that have something to claim, and the first task of each';

create or replace function pawl._queues_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_paused int[] := pawl._paused_queues();
begin
    return query
    select 'queue', case when b.due_at < p_now - interval '10 min' then 'error' else 'warning' end,
           format('no live worker handles queue %s%s: %s, the first due %s ago', q.name,
               case when b.tenant <> '' then format(' for tenant "%s"', b.tenant) else '' end,
               pawl._backlog_shown(q.queue_id), pawl._ago(p_now - b.due_at)),
           format('Start a worker that handles %s%s.', q.name, coalesce(' with runtime ' || w.runtime, ''))
    from pawl._backlogs() b
    join pawl_data.queue q on q.queue_id = b.queue_id
    join pawl_data.workflow w on w.workflow_id = q.workflow_id
    where b.queue_id <> all (v_paused)
      -- 1. A run is triggered. 2. Its worker is live and busy. A backlog alone is not a finding; a backlog that no live worker takes is.
      -- guard:doctor_served
      and not exists (
          select from pawl_data.worker k
          where b.queue_id = any (k.queue_ids) and not k.draining and (k.tenant is null or k.tenant = b.tenant)
            and pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now))
    order by b.due_at
    limit 5;
    return query
    select 'pause', 'warning',
           format('%s %s has been paused by %s for %s%s: %s', p.subject, p.name, p.paused_by, pawl._ago(p_now - p.paused_at),
               coalesce(' (' || left(p.why, 200) || ')', ''), pawl._backlog_shown(b.queue_id)),
           format('Resume it with pawl.resume_%s(%L) when the reason is gone.', p.subject, p.name)
    from pawl._backlogs() b
    join pawl_data.queue q on q.queue_id = b.queue_id
    join pawl_data.workflow w on w.workflow_id = q.workflow_id
    join pawl_data.pause p on p.subject = 'queue' and p.name = q.name or p.subject = 'workflow' and p.name = w.name
    order by p.paused_at
    limit 5;
end
$$;
comment on function pawl._queues_found(timestamptz) is 'queues with a backlog that no worker takes, or that are paused';

create or replace function pawl._lanes_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if pg_relation_size('pawl_data.lane_queue') = 0 then
        return;
    end if;
    return query
    select 'lane', 'error',
           format('no claim visits %s lane%s of queue %s in which runs wait', count(*), case when count(*) > 1 then 's' else '' end, q.name),
           'Call pawl.tick(): housekeeping repairs lanes. Report it, because no call should leave a lane so.'
    from pawl._lines(0, '00000000-0000-0000-0000-000000000000', 1000) l
    join pawl_data.queue q on q.queue_id = l.queue_id
    where l.lost
    group by q.name
    order by q.name
    limit 5;
end
$$;
comment on function pawl._lanes_found() is 'lanes with tasks that no claim visits, among the first 1,000';

-- A worker that stops cleanly ends its session. These did not.
create or replace function pawl._workers_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    select 'worker', case when h.n > 0 then 'error' else 'warning' end,
           format('worker %s has sent no heartbeat for %s, and its session was not ended: it holds %s', k.name,
               pawl._ago(p_now - pawl._shift(k.lease_until, - k.lease)),
               case h.n when 0 then 'nothing' when 1 then '1 task' when 1001 then 'over 1000 tasks' else h.n || ' tasks' end),
           'Housekeeping reclaims them as soon as another worker, or pawl keeper, runs; start one.'
    from pawl_data.worker k
    cross join lateral (
        select count(*) from (select from pawl_data.task t where t.place = 'h' and t.session_id = k.session_id limit 1001) c
    ) h (n)
    -- Until then it is swept in due course.
    where k.ended_at is null and k.lease_until < p_now - interval '1 min'
    order by h.n desc, k.lease_until
    limit 5;
    return query
    select 'worker', 'warning',
           format('%s lost the lease in the last 24 hours; the last was %s, %s ago',
               case when l.n = 1 then '1 worker' else l.n || ' workers' end, l.name, pawl._ago(p_now - l.ended_at)),
           'Look at the log and the machine of the worker: one that stops cleanly does not lose its lease.'
    from (
        select k.name, k.ended_at, count(*) over () as n
        -- Session numbers go up, so these are the newest.
        from (select k.* from pawl_data.worker k order by k.session_id desc limit 1000) k
        where k.ended_why = 'lost' and k.ended_at > p_now - interval '24 hours'
        order by k.ended_at desc
        limit 1
    ) l;
    return query
    select 'worker', 'warning',
           format('worker %s has claimed nothing for %s: its program does not take its runs', k.name, pawl._ago(p_now - k.starved_since)),
           'Find what blocks its event loop, or all its threads. Until then other workers must execute its workflows.'
    from pawl_data.worker k
    where k.starved_since is not null and pawl._is_live(k.session_id, k.ended_at, k.lease_until, p_now) and k.ended_at is null
    order by k.starved_since
    limit 5;
end
$$;
comment on function pawl._workers_found(timestamptz) is 'workers whose lease expired, or that take no runs';

-- Among the newest 2,000 failed runs: those whose rollback stopped at an undo that failed.
create or replace function pawl._rollbacks_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    -- Days past their retention are left out, as in _runs_before(): they may be locked.
    v_first uuid := pawl._first_id('run', p_now);
begin
    return query
    with failed as materialized (
        (select r.run_id, r.round, r.queue_id, r.ended_at, r.error
         from pawl_data.run r
         where r.status = 'e' and r.run_id >= v_first
         order by r.run_id desc
         limit 2000)
        union all
        (select k.run_id, k.round, k.queue_id, k.ended_at, k.error from pawl_data.run_kept k where k.status = 'e' order by k.run_id desc limit 2000)
    ), stuck as (
        select q.name, f.run_id, f.ended_at, f.error ->> 'not_undone' as not_undone
        from failed f
        join pawl_data.queue q on q.queue_id = f.queue_id
        where f.error ->> 'code' = 'rollback_failed'
          -- 1. An undo fails, and the round of the run ends with that. 2. An operator opens the next round with rollback_retry(). While it is
          -- in progress, nothing is stuck.
          -- guard:doctor_open_round
          and not exists (select from pawl_data.task t where t.run_id = f.run_id)
          -- 3. That round ends well. The row of the earlier one stays in history, and would be reported for as long as it is retained.
          -- guard:doctor_last_round
          and f.round = (select max(r.round) from pawl._runs(array[f.run_id]) r)
    )
    select 'rollback', 'error',
           format('%s of workflow %s stopped at an undo that failed. The last one is %s, %s ago; not undone: %s',
               case when count(*) = 1 then 'the rollback of 1 run' else format('the rollbacks of %s runs', count(*)) end, s.name,
               (array_agg(s.run_id order by s.ended_at desc))[1], pawl._ago(p_now - max(s.ended_at)),
               left((array_agg(s.not_undone order by s.ended_at desc))[1], 200)),
           'Fix the cause and call pawl.rollback_retry(); or leave a step as it is with pawl.rollback_skip().'
    from stuck s
    group by s.name
    order by max(s.ended_at) desc
    limit 5;
end
$$;
comment on function pawl._rollbacks_found(timestamptz) is 'rollbacks that are stuck, among the newest 2,000 failed runs';

-- Among 10,000 runs that wait without a time limit: those that the engine paused because the code no longer matches their records.
create or replace function pawl._drift_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    with looked as materialized (
        select t.run_id, t.queue_id, t.reason, t.paused from pawl_data.task t where t.place = 'w' and t.due_at = 'infinity' limit 10000
    )
    select 'drift', 'error',
           format('%s of workflow %s %s paused because the code no longer matches the records. The last one is %s, %s ago: %s',
               case when count(*) = 1 then '1 run' else count(*) || ' runs' end, w.name, case when count(*) = 1 then 'is' else 'are' end,
               (array_agg(l.run_id order by l.paused ->> 'at' desc))[1],
               pawl._ago(p_now - max((l.paused ->> 'at')::timestamptz)),
               left((array_agg(l.paused ->> 'why' order by l.paused ->> 'at' desc))[1], 200)),
           'Deploy code that matches the records and call pawl.resume(); or start new runs with pawl.fork().'
    from looked l
    join pawl_data.queue q on q.queue_id = l.queue_id
    join pawl_data.workflow w on w.workflow_id = q.workflow_id
    where l.reason = 'drift'
    group by w.name
    order by max((l.paused ->> 'at')::timestamptz) desc
    limit 5;
end
$$;
comment on function pawl._drift_found(timestamptz) is 'runs that drift has paused';

-- Among the 10,000 oldest open waits: events, signals and approvals that have not come for a week. A sleep has its time, and a child
-- waits for something itself.
create or replace function pawl._waits_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    with looked as materialized (
        -- No wait is older than its run.
        select w.run_id, w.kind, w.topic, w.created_at
        from pawl_data.wait w
        where w.run_id < pawl._id_floor(p_now - interval '168 hours')
        order by w.run_id, w.task_no, w.name
        limit 10000
    )
    select 'wait', 'warning',
           format('%s for %s %s for more than a week; the first, %s, for %s',
               case when count(*) = 1 then '1 run has waited' else count(*) || ' runs have waited' end, pawl._kind_name(l.kind), l.topic,
               (array_agg(l.run_id order by l.created_at))[1], pawl._ago(p_now - min(l.created_at))),
           case l.kind when 'e' then 'If the event will not come, cancel them with pawl.cancel(); a timeout in the code ends such waits.'
                       when 'g' then 'If the signal will not come, cancel them with pawl.cancel(); a timeout in the code ends such waits.'
                       else 'Decide with pawl.approve() or pawl.reject(); a timeout in the code ends such waits.' end
    from looked l
    where l.kind in ('e', 'g', 'a') and l.created_at < p_now - interval '168 hours'
    group by l.kind, l.topic
    order by min(l.created_at)
    limit 5;
end
$$;
comment on function pawl._waits_found(timestamptz) is 'waits that are older than a week';

create or replace function pawl._counts_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
declare
    v_until timestamptz := pawl._counted_until(p_now);
    -- Days past their retention are left out, as in _runs_before(): they may be locked.
    v_first uuid := pawl._first_id('run', p_now);
begin
    if v_until >= p_now - interval '10 min' or not exists (select from pawl_data.run r where r.run_id >= v_first) then
        return;
    end if;
    return query
    select 'metrics', 'warning',
           case when v_until is null then 'ended runs have never been counted: pawl.metrics() shows 0'
                else format('runs that ended in the last %s are not counted: pawl.metrics() does not show them', pawl._ago(p_now - v_until)) end,
           'Housekeeping counts them as soon as a worker that is not bound to a tenant, or pawl keeper, runs; start one.';
end
$$;
comment on function pawl._counts_found(timestamptz) is 'numbers of ended runs that stand still';

-- Reports which searches above had more rows to examine than their limit.
create or replace function pawl._unseen_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    -- Days past their retention are left out, as in _runs_before(): they may be locked.
    v_first uuid := pawl._first_id('run', p_now);
begin
    return query
    select 'bounds', 'warning', 'not all was looked at: ' || string_agg(b.bound, ', ' order by b.n), 'Use pawl.list_runs() and pawl.list_waits() for the others.'
    from (
        select 1, 'the newest 2000 failed runs'
        where 2000 < (select count(*) from (select from pawl_data.run r where r.status = 'e' and r.run_id >= v_first limit 2001) c)
        union all
        select 2, '10000 runs that wait without a time limit'
        where 10000 < (select count(*) from (select from pawl_data.task t where t.place = 'w' and t.due_at = 'infinity' limit 10001) c)
        union all
        select 3, 'the 10000 oldest waits'
        where 10000 < (select count(*) from (select from pawl_data.wait w where w.run_id < pawl._id_floor(p_now - interval '168 hours') limit 10001) c)
    ) b (n, bound)
    having count(*) > 0;
end
$$;
comment on function pawl._unseen_found(timestamptz) is 'searches of doctor that reached their bound';

-- Schedules that fail, that are late, and more of them in one minute than housekeeping fires.
create or replace function pawl._schedules_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_due timestamptz := (select s.fire_at from pawl_data.schedule s where not s.paused order by s.fire_at limit 1);
begin
    -- While everything is paused, all of them are late.
    if v_due is null or (select s.paused from pawl_data.setting s where s.only_row) then
        return;
    end if;
    return query
    select 'schedule', 'error', pawl._one_line(format('schedule %s%s could not trigger its run: %s', s.name,
               case when s.tenant = '' then '' else format(' of tenant %s', s.tenant) end, s.last_error)),
           'Mend what it says; it is tried again every minute.'
    from pawl_data.schedule s
    where s.last_error is not null and not s.paused
    order by s.failed_at desc
    limit 5;
    return query
    select 'schedules', 'error', format('the first schedule that is due has been so for %s', pawl._ago(p_now - v_due)),
           'Start a worker that is not bound to a tenant, or pawl keeper; if one runs, spread the schedules: jitter.'
    -- guard:doctor_late_schedules
    where v_due < p_now - interval '60 s';
    return query
    select 'schedules', 'warning', 'more than 10000 schedules are due within the next minute', 'Spread them with jitter: some hundred are fired in a second.'
    where 10000 < (select count(*) from (select from pawl_data.schedule s where not s.paused and s.fire_at < p_now + interval '1 min' order by s.fire_at limit 10001) c);
end
$$;
comment on function pawl._schedules_found(timestamptz) is 'schedules that are late or fail';

-- Subscriptions that cannot start runs, and pauses that are so long that events are lost.
create or replace function pawl._subscriptions_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select 'subscription', 'error', pawl._one_line(format('subscription %s%s could not start its run: %s', s.name,
               case when s.tenant = '' then '' else format(' of tenant %s', s.tenant) end, s.last_error)),
           'Mend what it says; it is tried again every minute.'
    from pawl_data.subscription s
    where s.last_error is not null and not s.paused
    order by s.failed_at desc
    limit 5;
    return query
    select 'subscription', 'warning', pawl._one_line(format('subscription %s%s has been paused for %s, and events are retained for %s', s.name,
               case when s.tenant = '' then '' else format(' of tenant %s', s.tenant) end, pawl._ago(p_now - s.paused_at), c.event_retention)),
           'Resume it, or delete it.'
    from pawl_data.subscription s
    cross join pawl_data.setting c
    -- guard:doctor_long_pause
    where s.paused and s.paused_at < pawl._shift(p_now, - c.event_retention / 2) and c.only_row
    order by s.paused_at
    limit 5;
end
$$;
comment on function pawl._subscriptions_found(timestamptz) is 'subscriptions that fail, or are paused for long';

create or replace function pawl._work_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query select f.* from pawl._all_paused_found(p_now) f;
    return query select f.* from pawl._queues_found(p_now) f;
    return query select f.* from pawl._lanes_found() f;
    return query select f.* from pawl._workers_found(p_now) f;
    return query select f.* from pawl._rollbacks_found(p_now) f;
    return query select f.* from pawl._drift_found(p_now) f;
    return query select f.* from pawl._waits_found(p_now) f;
    return query select f.* from pawl._counts_found(p_now) f;
    return query select f.* from pawl._schedules_found(p_now) f;
    return query select f.* from pawl._subscriptions_found(p_now) f;
    return query select f.* from pawl._unseen_found(p_now) f;
end
$$;
comment on function pawl._work_found(timestamptz) is 'what keeps the work from progressing';
