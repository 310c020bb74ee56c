-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping of time limits: of runs, and of steps whose worker lets them hang.

-- Enforces time limits that have passed: a run timeout, the grace period of a cancelled run, a cancel passed on to a child. Then steps that
-- have exceeded their own limit although their worker is alive.
create or replace function pawl._enforce_limits(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_limit pawl_data.wait;
    v_limits pawl_data.wait[];
    v_nobody tid[];
    v_tids tid[];
    v_count int := 0;
begin
    -- 1. A cancels a parent, and writes a limit for its child. 2. B ends the child at the same time. The limit is left over without a run,
    -- so it is deleted here. Runs are looked up one by one for a bounded piece: as a join the statement may read every run.
    v_nobody := array(
        select d.ctid
        from (
            select w.ctid, w.run_id
            from pawl_data.wait w
            where w.kind = 'l' and w.due_at <= p_now
            order by w.due_at
            -- guard:limits_of_nobody_piece
            limit p_max
        ) d
        where p_tenant is null and not pawl._lives(d.run_id));
    if cardinality(v_nobody) > 0 then
        delete from pawl_data.wait w
        where w.ctid = any (array(
            select d.ctid
            from pawl_data.wait d
            where d.ctid = any (v_nobody) and d.kind = 'l' and not pawl._lives(d.run_id)
            for update skip locked));
    end if;
    if p_tenant is null then
        v_limits := array(
            -- Limits of runs that another transaction holds do not count, or they would starve other limits. The lock on the task is
            -- enough, because a commit that ends the run takes it, too.
            select w
            from pawl_data.wait w
            cross join lateral (
                select from pawl_data.task t where t.run_id = w.run_id and t.task_no = 0 for update skip locked
            ) t
            where w.kind = 'l' and w.due_at <= p_now
            order by w.due_at
            limit p_max);
    else
        -- In a separate statement: as a condition here it could be evaluated for every limit that is due.
        v_tids := pawl._limits_of_tenant(p_now, p_tenant);
        v_limits := array(
            select w
            from pawl_data.wait w
            cross join lateral (
                select from pawl_data.task t where t.run_id = w.run_id and t.task_no = 0 for update skip locked
            ) t
            where w.ctid = any (v_tids) and w.kind = 'l' and w.due_at <= p_now
            order by w.due_at
            limit p_max);
    end if;
    foreach v_limit in array v_limits loop
        if not p_each then
            v_count := v_count + pawl._enforce_limit(v_limit, p_now);
            continue;
        end if;
        begin
            v_count := v_count + pawl._enforce_limit(v_limit, p_now);
        exception
            when others then
                perform pawl._note_failure('limits', p_now, format('run %s: %s %s', v_limit.run_id, sqlstate, sqlerrm));
                perform pawl._defer_limit(v_limit, p_now + interval '1 min');
        end;
    end loop;
    return v_count + pawl._enforce_step_limits(p_now, greatest(p_max - v_count, 1), p_tenant, p_each);
end
$$;
comment on function pawl._enforce_limits(timestamptz, int, text, boolean) is 'ends runs whose time is over';

-- Returns limits of one tenant that have passed, from both ends of the due order, for the reason that _due_of_tenant() gives.
create or replace function pawl._limits_of_tenant(p_now timestamptz, p_tenant text)
returns tid[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return array(
        select e.ctid
        from (
            (select w.ctid, w.tenant from pawl_data.wait w where w.kind = 'l' and w.due_at <= p_now order by w.due_at limit 5000)
            union
            (select w.ctid, w.tenant from pawl_data.wait w where w.kind = 'l' and w.due_at <= p_now order by w.due_at desc limit 5000)
        ) e
        where e.tenant = p_tenant);
end
$$;
comment on function pawl._limits_of_tenant(timestamptz, text) is 'time limits of a tenant that are over';

create or replace function pawl._defer_limit(p_limit pawl_data.wait, p_until timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.wait w
    -- seq shows a claim that the limit was over before.
    -- guard:limit_deferred
    set due_at = p_until, seq = w.seq + 1
    where w.run_id = p_limit.run_id and w.task_no = p_limit.task_no and w.name = p_limit.name and w.kind = 'l';
end
$$;
comment on function pawl._defer_limit(pawl_data.wait, timestamptz) is 'lets other limits be enforced first';

-- Enforces one limit that has passed. Returns 0 if another tick has enforced it, or if another transaction holds the run.
create or replace function pawl._enforce_limit(p_limit pawl_data.wait, p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_task pawl_data.task;
    v_done text;
begin
    select t.* into v_task from pawl_data.task t where t.run_id = p_limit.run_id and t.task_no = 0 for update skip locked;
    -- Another tick may have enforced the limit before this lock.
    if v_task.run_id is null or not exists (
        select from pawl_data.wait w where w.run_id = p_limit.run_id and w.task_no = 0 and w.name = p_limit.name) then
        return 0;
    end if;
    if p_limit.name <> 'cancel' then
        -- guard:limit_fence
        v_task.fence := v_task.fence + 1;
    end if;
    if p_limit.name = 'expires' then
        v_done := pawl._expire(v_task, p_now);
    elsif p_limit.name = 'cancel' then
        v_done := pawl._cancel_task(v_task, p_now, 'pawl', coalesce(p_limit.topic, 'the parent was cancelled'), false);
    elsif p_limit.name = 'grace' and v_task.place = 'o' then
        v_done := pawl._force_end(v_task, pawl._status_code(v_task.ending ->> 'status'), v_task.ending -> 'error',
            (v_task.ending ->> 'rollback')::boolean, p_now);
    elsif p_limit.name = 'grace' then
        v_done := pawl._end_or_roll_back(v_task, 'c', json_build_object('code', 'cancelled', 'message',
            coalesce(v_task.ending ->> 'why', 'cancelled')), (v_task.ending ->> 'rollback')::boolean, p_now);
    elsif v_task.rolling_back or v_task.ending is not null then
        v_done := 'ok';
    elsif v_task.place = 'o' then
        v_done := pawl._force_end(v_task, 'e', json_build_object('code', 'timeout', 'message',
            'the run has reached its time limit'), true, p_now);
    else
        v_done := pawl._end_or_roll_back(v_task, 'e', json_build_object('code', 'timeout', 'message',
            'the run has reached its time limit'), true, p_now);
    end if;
    if v_done <> 'busy' then
        delete from pawl_data.wait w
        where w.run_id = p_limit.run_id and w.task_no = p_limit.task_no and w.name = p_limit.name and w.kind::text = 'l';
    else
        -- Another transaction holds the parent or a task of the flow, for an unknown time. Postpone this limit by 1 s: with p_max of these
        -- at the head of the due order, no other limit would ever be enforced.
        perform pawl._defer_limit(p_limit, p_now + interval '1 s');
    end if;
    return 1;
end
$$;
comment on function pawl._enforce_limit(pawl_data.wait, timestamptz) is 'enforces one time limit';

-- Returns whether a worker has claimed a run, or a task of its flow, in this round. A flow may also have records, or children, without that.
create or replace function pawl._was_claimed(p_task pawl_data.task)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_task.place <> 'o' then
        return p_task.claimed_at is not null;
    end if;
    return exists (select from pawl_data.task t where t.run_id = p_task.run_id and t.task_no > 0 and t.claimed_at is not null)
        or exists (select from pawl._steps(array[p_task.run_id]))
        or exists (select from pawl_data.wait w where w.run_id = p_task.run_id and w.kind::text = 'c');
end
$$;
comment on function pawl._was_claimed(pawl_data.task) is 'whether a run has begun';

-- Ends a run (task 0, locked by the caller) that no worker has claimed in time. Returns expired, or busy if another transaction holds its
-- parent or a task of its flow. Returns ok if a worker has claimed it, or if it is ending.
create or replace function pawl._expire(p_task pawl_data.task, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_error json := json_build_object('code', 'expired', 'message', 'no worker claimed the run in time');
    v_done text;
begin
    -- guard:expire_unclaimed
    if p_task.ending is not null or p_task.rolling_back or pawl._was_claimed(p_task) then
        return 'ok';
    end if;
    v_done := case when p_task.place = 'o' then pawl._force_end(p_task, 'c', v_error, false, p_now)
                   else pawl._end_run(p_task, 'c', null, v_error, p_now) end;
    return case when v_done = 'ok' then 'expired' else v_done end;
end
$$;
comment on function pawl._expire(pawl_data.task, timestamptz) is 'ends a run that no worker has claimed in time';

-- Returns the picked tasks (locked) without those of runs that have expired. 1. A run expires. 2. A claim picks it before housekeeping has
-- ended it. Without this its worker would start it. So the claim ends it. If that is not possible now, its tasks wait for housekeeping.
create or replace function pawl._without_expired(p_all tid[], p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_over uuid[] := array(
        select distinct t.run_id
        from pawl_data.task t
        cross join lateral (
            select from pawl_data.wait w
            where w.run_id = t.run_id and w.task_no = 0 and w.name = 'expires' and w.kind::text = 'l'
              -- seq: it is over, and the end of the run was deferred.
              -- guard:expired_put_off
              and (w.due_at <= p_now or w.seq > 0)
            offset 0) w
        where t.ctid = any (p_all) and t.claimed_at is null);
    v_id uuid;
begin
    foreach v_id in array v_over loop
        p_all := pawl._leave_out_expired(p_all, v_id, p_now);
    end loop;
    return p_all;
end
$$;
comment on function pawl._without_expired(tid[], timestamptz) is 'takes runs that have expired out of a claim, and ends them';

create or replace function pawl._leave_out_expired(p_all tid[], p_run uuid, p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_picked tid[] := array(select t.ctid from pawl_data.task t where t.ctid = any (p_all) and t.run_id = p_run);
    v_until timestamptz := p_now + interval '1 s';
    v_run pawl_data.task;
    v_task pawl_data.task;
    v_done text := 'busy';
begin
    -- Wake a worker for the tasks after it in the queue: this claim may return nothing, and its worker then sleeps.
    -- guard:expired_wakes
    perform pawl._wake_one(q.queue_id, q.tenant, p_now)
    from (select distinct t.queue_id, t.tenant from pawl_data.task t where t.ctid = any (v_picked)) q;
    -- Task 0 of a flow was not picked, so another transaction may hold it.
    select t.* into v_run from pawl_data.task t where t.run_id = p_run and t.task_no = 0 for update skip locked;
    if found then
        -- The history of the run's day may be missing, and no claim may fail for that.
        -- guard:expired_broken
        begin
            v_done := pawl._expire(v_run, p_now);
        exception
            when others then
                perform pawl._note_failure('claims', p_now, format('run %s: %s %s', p_run, sqlstate, sqlerrm));
                v_until := p_now + interval '1 min';
        end;
    end if;
    if v_done = 'ok' then
        return p_all;
    end if;
    -- If the run could not be ended, its tasks give way to others.
    for v_task in select t.* from pawl_data.task t where v_done = 'busy' and t.ctid = any (v_picked) loop
        perform pawl._leave_lane(v_task, p_now, false);
        -- guard:expired_waits
        update pawl_data.task t
        set place = 'w', due_at = v_until, reason = 'delay'
        where t.run_id = v_task.run_id and t.task_no = v_task.task_no;
    end loop;
    return array(select a from unnest(p_all) a where a <> all (v_picked));
end
$$;
comment on function pawl._leave_out_expired(tid[], uuid, timestamptz) is 'takes the tasks of one run out of a claim if it has expired';

-- Returns when the engine takes the task of a step from its worker: five seconds after the step's limit. The worker itself should stop the
-- step at the limit.
create or replace function pawl._limit_of_step(p_session bigint, p_running json, p_reported_at timestamptz)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_running ->> 'timeout_ms' is null
       -- 1. Worker A has 1,000 sessions, and each reports 850 steps of runs that it does not hold. 2. Housekeeping looks for steps over
       -- their limit. Without this test every tick would read all of these reports, and take seconds.
       -- guard:limit_of_held_step
       or p_session is distinct from (
           select t.session_id
           from pawl_data.task t
           where t.run_id = (p_running ->> 'run')::uuid and t.task_no = coalesce((p_running ->> 'task')::int, 0) and t.place = 'h'
             and t.claimed_at <= p_reported_at) then
        return timestamptz 'infinity';
    end if;
    return p_reported_at + ((p_running ->> 'timeout_ms')::float8 - coalesce((p_running ->> 'started_ms')::float8, 0) + 5000) * interval '1 ms';
end
$$;
comment on function pawl._limit_of_step(bigint, json, timestamptz) is 'when a step that a heartbeat reported is over its limit; infinity: it has none, or the session does not hold its task';

-- The limit of one step differs by milliseconds from report to report. The old value stays then, so that the heartbeat enters no index.
create or replace function pawl._same_limit(p_old timestamptz, p_new timestamptz)
returns timestamptz
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_new between p_old - interval '1 s' and p_old + interval '1 s' then p_old else p_new end;
end
$$;
comment on function pawl._same_limit(timestamptz, timestamptz) is 'the old limit, if the new one differs by less than a second';

-- Returns when housekeeping must check a session: at the first limit of its steps.
create or replace function pawl._next_limit(p_session bigint, p_running json, p_reported_at timestamptz)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select coalesce(min(pawl._limit_of_step(p_session, r, p_reported_at)), timestamptz 'infinity')
        from json_array_elements(case when json_typeof(p_running) = 'array' then p_running else '[]' end) r);
end
$$;
comment on function pawl._next_limit(bigint, json, timestamptz) is 'when the first step that a heartbeat reported is over its limit';

create or replace function pawl._enforce_step_limits(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_hung record;
    v_count int := 0;
    -- In random order: next_limit_at stays until the next heartbeat, even after the engine took the task. That session must not starve
    -- other sessions.
    v_sessions bigint[] := array(
        select w.session_id
        from pawl_data.worker w
        where w.ended_at is null and w.next_limit_at < p_now and w.next_limit_at < 'infinity' and (p_tenant is null or w.tenant = p_tenant)
        order by random()
        limit 10);
begin
    for v_hung in
        select h.*
        from (
            select w.session_id, w.name as worker, (r ->> 'run')::uuid as run_id, coalesce((r ->> 'task')::int, 0) as task_no,
                   r ->> 'step' as step, w.reported_at
            from pawl_data.worker w
            cross join lateral json_array_elements(case when json_typeof(w.running) = 'array' then w.running else '[]' end) r
            where w.session_id = any (v_sessions) and w.ended_at is null
              and pawl._limit_of_step(w.session_id, r, w.reported_at) < p_now
            -- In random order: a task that another transaction holds must not starve other tasks.
            order by random()
            limit p_max
        ) h
        order by h.run_id, h.task_no
    loop
        if not p_each then
            v_count := v_count + pawl._take_hung(v_hung.run_id, v_hung.task_no, v_hung.session_id, v_hung.reported_at, v_hung.step, v_hung.worker, p_now);
            continue;
        end if;
        begin
            v_count := v_count + pawl._take_hung(v_hung.run_id, v_hung.task_no, v_hung.session_id, v_hung.reported_at, v_hung.step, v_hung.worker, p_now);
        exception
            when others then
                perform pawl._note_failure('limits', p_now, format('run %s: %s %s', v_hung.run_id, sqlstate, sqlerrm));
        end;
    end loop;
    return v_count;
end
$$;
comment on function pawl._enforce_step_limits(timestamptz, int, text, boolean) is 'takes tasks from workers that let a step hang';

create or replace function pawl._take_hung(
    p_run uuid, p_task int, p_session bigint, p_reported_at timestamptz, p_step text, p_worker text, p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_task pawl_data.task;
    v_ends boolean;
begin
    select t.* into v_task
    from pawl_data.task t
    where t.run_id = p_run and t.task_no = p_task and t.place = 'h' and t.session_id = p_session
      -- A task that was claimed after that heartbeat is in another execution.
      and t.claimed_at <= p_reported_at
    for update skip locked;
    if not found then
        return 0;
    end if;
    v_task.started := true;
    v_ends := pawl._ends_taken_back(v_task, true);
    -- guard:hung_leaves_task
    if v_ends is null then
        return 0;
    end if;
    perform pawl._audit(p_run, p_task, v_task.kept, p_now, 'step_timeout', json_build_object('step', p_step, 'worker', p_worker));
    perform pawl._take_back(v_task, p_now, true, v_ends);
    return 1;
end
$$;
comment on function pawl._take_hung(uuid, int, bigint, timestamptz, text, text, timestamptz) is 'takes a task whose step hangs from its worker';
