-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping of sessions: reclaims the tasks of a session that is lost or that leaves.

-- Reclaims one held task, which the caller has locked. A task that its worker releases counts nowhere. A started task whose worker is lost
-- counts a crash, and at crash_max the run ends. p_ends: the answer of _ends_taken_back().
create or replace function pawl._take_back(p_task pawl_data.task, p_now timestamptz, p_crashed boolean, p_ends boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_crashes int := p_task.crashes + (p_crashed and p_task.started)::int;
begin
    -- If the run ends here, it ends under a fence that its holder never had. So an item of the holder is not answered as if that item had
    -- ended the run.
    p_task.fence := p_task.fence + 1;
    if p_ends then
        perform pawl._end_taken_back(p_task, p_now, v_crashes);
        return;
    elsif p_task.task_no > 0 then
        perform pawl._make_free(p_task, p_now, p_crashed, v_crashes);
        return;
    end if;
    if p_task.ending is not null and not p_task.rolling_back then
        if pawl._end_or_roll_back(p_task, 'c', json_build_object('code', 'cancelled', 'message',
               coalesce(p_task.ending ->> 'why', 'cancelled')), (p_task.ending ->> 'rollback')::boolean, p_now) = 'busy' then
            -- Another transaction holds its parent. No worker may start the run again; the end of its grace period ends it.
            update pawl_data.task t
            set fence = t.fence + 1, place = 'w', due_at = 'infinity', session_id = null, request = null, started = false
            where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
            if p_task.lane is not null then
                perform pawl._leave_lane(p_task, p_now, false);
            end if;
        end if;
        return;
    end if;
    if v_crashes > p_task.crashes and v_crashes >= (select s.crash_max from pawl_data.setting s where s.only_row) then
        p_task.crashes := v_crashes::smallint;
        if pawl._crash_out(p_task, p_now) = 'ok' then
            return;
        end if;
    end if;
    perform pawl._make_free(p_task, p_now, p_crashed, v_crashes);
end
$$;
comment on function pawl._take_back(pawl_data.task, timestamptz, boolean, boolean) is 'takes back one held task and raises its fence';

create or replace function pawl._make_free(p_task pawl_data.task, p_now timestamptz, p_crashed boolean, p_crashes int)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.task t
    -- guard:sweep_fence
    set fence = t.fence + 1,
        session_id = null, request = null, crashes = p_crashes,
        execution = t.execution - (not p_crashed and t.started)::int,
        recorded = t.recorded or t.started, started = false, woken = t.paused is not null,
        place = case when t.paused is not null then 'w' else pawl._ready_place(p_crashes) end,
        due_at = case when t.paused is not null then 'infinity' else p_now end,
        reason = case when t.paused is not null then 'operator' end
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    -- guard:sweep_leaves_lane
    if p_task.lane is not null then
        perform pawl._leave_lane(p_task, p_now, false);
    end if;
end
$$;
comment on function pawl._make_free(pawl_data.task, timestamptz, boolean, int) is 'makes a held task ready again under a raised fence';

-- Returns whether a held task, which the caller has locked, ends when it is reclaimed. A task of a flow does if its run is ending, or at
-- crash_max. Then the whole run is needed, and is locked, too. Null: another transaction holds the run, so the task is left to the next
-- sweep, and its holder may continue.
create or replace function pawl._ends_taken_back(p_task pawl_data.task, p_crashed boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_task.task_no = 0
       or not (p_crashed and p_task.started and p_task.crashes + 1 >= (select s.crash_max from pawl_data.setting s where s.only_row))
          and p_task.ending is null
          and not exists (select from pawl_data.task t where t.run_id = p_task.run_id and t.task_no = 0 and t.ending is not null) then
        return false;
    end if;
    return case when pawl._lock_flow(p_task.run_id) then true end;
end
$$;
comment on function pawl._ends_taken_back(pawl_data.task, boolean) is 'whether a task of a flow ends when it is taken back';

-- Ends a task of a flow that is reclaimed. The caller has locked the run, too.
create or replace function pawl._end_taken_back(p_task pawl_data.task, p_now timestamptz, p_crashes int)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl_data.task;
begin
    select t.* into v_run from pawl_data.task t where t.run_id = p_task.run_id and t.task_no = 0;
    if v_run.ending is not null then
        perform pawl._drop_tasks(v_run, true, p_now, p_task.task_no);
        perform pawl._let_end(v_run, p_now);
    else
        perform pawl._finish_task(v_run, p_task.task_no, 'e', null, json_build_object('code', 'crashed', 'message',
            format('%s workers lost their lease while they held this task', p_crashes)), p_now, p_task.execution, p_task.fence, p_task.started_at);
    end if;
end
$$;
comment on function pawl._end_taken_back(pawl_data.task, timestamptz, int) is 'ends a task of a flow that is taken back';

-- Reclaims up to p_max tasks of a session. p_each: a task that fails is left, and its error is recorded.
create or replace function pawl._release_held(p_session bigint, p_now timestamptz, p_max int, p_crashed boolean, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_task pawl_data.task;
    v_runs uuid[];
    v_tasks int[];
    v_count int := 0;
    v_queues int[] := array[]::int[];
    v_tenants text[] := array[]::text[];
    v_tenant text;
    v_bound boolean := (select s.tenants_bound from pawl_data.setting s where s.only_row);
begin
    select array_agg(h.run_id order by h.run_id, h.task_no), array_agg(h.task_no order by h.run_id, h.task_no) into v_runs, v_tasks
    from (
        select t.run_id, t.task_no from pawl_data.task t
        where t.place = 'h' and t.session_id = p_session
        -- In random order: tasks of a flow that another transaction holds are left, and must not starve other tasks.
        -- guard:sweep_any
        order by random()
        limit p_max
        -- guard:sweep_skip_locked
        for update skip locked
    ) h;
    for v_n in 1..coalesce(cardinality(v_runs), 0) loop
        -- Read each task again: if two of them are of one flow, the end of the first may have changed the second.
        select t.* into v_task
        from pawl_data.task t
        where t.run_id = v_runs[v_n] and t.task_no = v_tasks[v_n] and t.place = 'h' and t.session_id = p_session;
        continue when not found;
        v_count := v_count + 1;
        v_tenant := case when v_bound then v_task.tenant else '' end;
        if not exists (select from unnest(v_queues, v_tenants) w (queue_id, tenant)
                       where w.queue_id = v_task.queue_id and w.tenant = v_tenant) then
            v_queues := v_queues || v_task.queue_id;
            v_tenants := v_tenants || v_tenant;
        end if;
        if not p_each then
            perform pawl._release_one(v_task, p_now, p_crashed);
            continue;
        end if;
        begin
            perform pawl._release_one(v_task, p_now, p_crashed);
        exception
            when others then
                perform pawl._note_failure('sessions', p_now, format('run %s: %s %s', v_task.run_id, sqlstate, sqlerrm));
        end;
    end loop;
    perform pawl._wake_one(w.queue_id, w.tenant, p_now) from unnest(v_queues, v_tenants) w (queue_id, tenant);
    return v_count;
end
$$;
comment on function pawl._release_held(bigint, timestamptz, int, boolean, boolean) is 'takes back the tasks of a session and raises their fences';

create or replace function pawl._release_one(p_task pawl_data.task, p_now timestamptz, p_crashed boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_ends boolean := pawl._ends_taken_back(p_task, p_crashed);
begin
    -- guard:sweep_leaves_task
    if v_ends is null then
        return;
    end if;
    if p_crashed and p_task.started then
        perform pawl._audit(p_task.run_id, p_task.task_no, p_task.kept, p_now, 'lease_lost',
            json_build_object('session', p_task.session_id, 'fence', p_task.fence, 'crashes', p_task.crashes + 1));
    end if;
    perform pawl._take_back(p_task, p_now, p_crashed, v_ends);
end
$$;
comment on function pawl._release_one(pawl_data.task, timestamptz, boolean) is 'takes back one task of a session';

create or replace function pawl._crash_out(p_task pawl_data.task, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_error json := json_build_object('code', 'crashed', 'message',
        format('%s workers lost their lease while they held this run', p_task.crashes));
begin
    if p_task.rolling_back then
        return pawl._end_run(p_task, 'e', null, json_build_object('code', 'rollback_failed', 'error', v_error,
            'cause', p_task.ending -> 'error', 'status', p_task.ending -> 'status', 'not_undone', pawl._undone(p_task)), p_now);
    end if;
    p_task.crashes := 0;
    update pawl_data.task t set crashes = 0 where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    return pawl._end_or_roll_back(p_task, 'e', v_error, true, p_now);
end
$$;
comment on function pawl._crash_out(pawl_data.task, timestamptz) is 'ends a run whose workers keep dying';

-- Ends sessions whose lease has expired, or that are of an older epoch, and reclaims their tasks. After a start of the server no lease
-- counts as expired for one full lease, so an outage of the database costs no attempts.
create or replace function pawl._sweep(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_session bigint;
    v_epoch int := pawl._epoch();
    v_count int := 0;
    v_queues int[];
begin
    -- A lease that ends later than a heartbeat can set it shows that the clock was moved backward. 1. A, this sweep, has read p_now some
    -- time ago. 2. B, a heartbeat, renews its lease. 3. A compares with the current time. With p_now A would cut the lease of B.
    update pawl_data.worker w
    -- guard:sweep_clock
    set lease_until = pawl._shift(pawl.now(), w.lease)
    where w.ended_at is null and w.lease_until > pawl._shift(pawl.now(), w.lease)
      and w.session_id = any (array(
          select d.session_id from pawl_data.worker d
          where d.ended_at is null and d.lease_until > pawl._shift(p_now, d.lease) and (p_tenant is null or d.tenant = p_tenant)
          for update skip locked));
    for v_session in
        select w.session_id
        from pawl_data.worker w
        where w.ended_at is null
          and (w.session_id >> 32 <> v_epoch
               -- guard:sweep_lease
               or w.lease_until < p_now
                  -- A clock that was moved backward to before the start of the server does not show how long ago that start was.
                  and (p_now > pawl._shift(pg_postmaster_start_time(), w.lease) or p_now < pg_postmaster_start_time()))
          and (p_tenant is null or w.tenant = p_tenant)
        -- In random order: a session with a task that another transaction holds must not starve other sessions.
        order by random()
        limit 10
        for update skip locked
    loop
        -- The end of an epoch is not the worker's fault, so it counts no crash.
        v_count := v_count + pawl._release_held(v_session, p_now, p_max - v_count, v_session >> 32 = v_epoch, p_each);
        if not exists (select from pawl_data.task t where t.place = 'h' and t.session_id = v_session) then
            update pawl_data.worker w
            set ended_at = p_now, idle = false, listens = false, running = null,
                ended_why = case when w.session_id >> 32 <> v_epoch then 'epoch' else 'lost' end
            where w.session_id = v_session
            returning w.queue_ids into v_queues;
            -- guard:sweep_queues
            perform pawl._write_queues(v_session, v_queues, '{}');
        end if;
        exit when v_count >= p_max;
    end loop;
    return v_count;
end
$$;
comment on function pawl._sweep(timestamptz, int, text, boolean) is 'takes back what dead sessions hold';
