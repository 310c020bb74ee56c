-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping: a bounded piece of it inside heartbeat and claim, by whoever comes when it is due. No
-- leader, nobody has to call it, and everything skips what another transaction holds.

create or replace function pawl._tick(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now bigint := pawl._micros(p_now);
    v_due bigint := (select c.last_value from pawl.housekeeping_clock c);
begin
    -- Far in the future means that the clock was set back.
    if v_due > v_now and v_due < v_now + 10000000 then
        return;
    end if;
    -- Without partitions nothing can be recorded, wherever the call stands. Housekeeping is days ahead of this.
    perform pawl._need_partitions(p_now);
    -- In a transaction block of the caller, the rows and tables it touches would stay locked for as long as
    -- the block is open. Somebody else will do it. A statement with parameters starts its own transaction when
    -- it is parsed and counts from when it is executed, so the two times are never quite equal there.
    if statement_timestamp() - transaction_timestamp() > interval '10 ms' then
        return;
    end if;
    perform setval('pawl.housekeeping_clock', v_now + 100000);
    perform pawl._promote(p_now, 500);
    perform pawl._sweep(p_now);
    perform pawl._enforce_limits(p_now, 100);
    perform pawl._deliver_more(p_now);
    -- guard:claim_drops_nothing
    perform pawl._do_chore(p_now, false);
end
$$;
comment on function pawl._tick(timestamptz) is 'a round of housekeeping, if it is due, but for retention';

-- Retention drops partitions, and everybody waits for the lock of that. Whether a call stands in a transaction block is not known
-- for certain: the first statement of a block that was sent together with its begin looks like one of its own. So it is left to
-- heartbeats, which nobody has a reason to put into a block, and not done by claims. Apart from the clock of housekeeping, which
-- claims would always be the first to see.
create or replace function pawl._tick_retention(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:block_drops_nothing
    if statement_timestamp() - transaction_timestamp() > interval '10 ms' then
        return;
    end if;
    perform pawl._do_chore(p_now, true);
end
$$;
comment on function pawl._tick_retention(timestamptz) is 'a piece of retention, if it is due';

-- Waiting tasks whose time has come. due_at becomes the time they got ready, so that a claim that looks
-- from a mark onwards finds them.
create or replace function pawl._promote(p_now timestamptz, p_most int)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_count int := 0;
    v_due record;
    -- Where nobody is bound to a tenant, one call for each queue will do.
    v_bound boolean := (select s.tenants_bound from pawl.setting s where s.only_row);
begin
    -- Without this look the statement below would be paid for at every tick.
    if not exists (select from pawl.task t where t.place = 1 and t.due_at <= p_now) then
        return 0;
    end if;
    for v_due in
        with due as (
            update pawl.task t
            set place = pawl._ready_place(t.crashes), due_at = p_now, reason = null
            where t.ctid = any (array(
                select d.ctid
                from pawl.task d
                where d.place = 1 and d.due_at <= p_now
                order by d.due_at
                limit p_most
                for update skip locked))
            returning t.queue_id, case when v_bound then t.tenant else '' end as tenant
        )
        select d.queue_id, d.tenant, count(*)::int as n from due d group by d.queue_id, d.tenant
    loop
        v_count := v_count + v_due.n;
        perform pawl._wake_one(v_due.queue_id, v_due.tenant, p_now);
    end loop;
    return v_count;
end
$$;
comment on function pawl._promote(timestamptz, int) is 'makes waiting tasks ready whose time has come';

-- Takes back one held task, locked by the caller. Given back in good order it counts nowhere; lost with its
-- worker, a task that had started counts a crash, and at the limit the run ends. p_ends: as _ends_taken_back() has said.
create or replace function pawl._take_back(p_task pawl.task, p_now timestamptz, p_crashed boolean, p_ends boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_crashes int := p_task.crashes + (p_crashed and p_task.started)::int;
begin
    -- If the run ends here it does so under a fence that its holder never had, so the holder cannot take it for
    -- its own doing.
    p_task.fence := p_task.fence + 1;
    if p_ends then
        perform pawl._end_taken_back(p_task, p_now, v_crashes);
        return;
    elsif p_task.task_no > 0 then
        perform pawl._make_free(p_task, p_now, p_crashed, v_crashes);
        return;
    end if;
    if p_task.ending is not null and not p_task.rolling_back then
        if pawl._end_or_roll_back(p_task, 3, json_build_object('code', 'cancelled', 'message',
               coalesce(p_task.ending ->> 'why', 'cancelled')), (p_task.ending ->> 'rollback')::boolean, p_now) = 'busy' then
            -- Its parent is locked. Nobody may start it again; the end of its grace ends it.
            update pawl.task t
            set fence = t.fence + 1, place = 1, due_at = 'infinity', session_id = null, request = null, started = false
            where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
        end if;
        return;
    end if;
    if v_crashes > p_task.crashes and v_crashes >= (select s.crash_max from pawl.setting s where s.only_row) then
        p_task.crashes := v_crashes::smallint;
        if pawl._crash_out(p_task, p_now) = 'ok' then
            return;
        end if;
    end if;
    perform pawl._make_free(p_task, p_now, p_crashed, v_crashes);
end
$$;
comment on function pawl._take_back(pawl.task, timestamptz, boolean, boolean) is 'takes back one held task and raises its fence';

create or replace function pawl._make_free(p_task pawl.task, p_now timestamptz, p_crashed boolean, p_crashes int)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl.task t
    -- guard:sweep_fence
    set fence = t.fence + 1,
        session_id = null, request = null, crashes = p_crashes,
        attempt = t.attempt - (not p_crashed and t.started)::int,
        recorded = t.recorded or t.started, started = false, woken = t.paused is not null,
        place = case when t.paused is not null then 1 else pawl._ready_place(p_crashes) end,
        due_at = case when t.paused is not null then 'infinity' else p_now end,
        reason = case when t.paused is not null then 'operator' end
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
end
$$;
comment on function pawl._make_free(pawl.task, timestamptz, boolean, int) is 'makes a held task ready again under a raised fence';

-- Whether a held task, locked by the caller, ends with being taken back: a flow's task does if its run is to end, or if its workers
-- keep dying. The whole run is needed then, and is locked; null: somebody has that, so the task is left to the next sweep, and its
-- holder may go on.
create or replace function pawl._ends_taken_back(p_task pawl.task, p_crashed boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_task.task_no = 0
       or not (p_crashed and p_task.started and p_task.crashes + 1 >= (select s.crash_max from pawl.setting s where s.only_row))
          and p_task.ending is null
          and not exists (select from pawl.task t where t.run_id = p_task.run_id and t.task_no = 0 and t.ending is not null) then
        return false;
    end if;
    return case when pawl._lock_flow(p_task.run_id) then true end;
end
$$;
comment on function pawl._ends_taken_back(pawl.task, boolean) is 'whether a task of a flow ends when it is taken back';

-- The end of a task of a flow that is taken back. The run is locked, too.
create or replace function pawl._end_taken_back(p_task pawl.task, p_now timestamptz, p_crashes int)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl.task;
begin
    select t.* into v_run from pawl.task t where t.run_id = p_task.run_id and t.task_no = 0;
    if v_run.ending is not null then
        perform pawl._drop_tasks(v_run, true, p_now, p_task.task_no);
        perform pawl._let_end(v_run, p_now);
    else
        perform pawl._finish_task(v_run, p_task.task_no, 2, null, json_build_object('code', 'crashed', 'message',
            format('%s workers lost their lease while they held this task', p_crashes)), p_now, p_task.attempt, p_task.fence, p_task.started_at);
    end if;
end
$$;
comment on function pawl._end_taken_back(pawl.task, timestamptz, int) is 'ends a task of a flow that is taken back';

-- Takes back what a session holds, at most p_most tasks.
create or replace function pawl._release_held(p_session bigint, p_now timestamptz, p_most int, p_crashed boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_task pawl.task;
    v_runs uuid[];
    v_tasks int[];
    v_ends boolean;
    v_count int := 0;
    v_queues int[] := array[]::int[];
    v_tenants text[] := array[]::text[];
    v_tenant text;
    v_bound boolean := (select s.tenants_bound from pawl.setting s where s.only_row);
begin
    select array_agg(h.run_id order by h.run_id, h.task_no), array_agg(h.task_no order by h.run_id, h.task_no) into v_runs, v_tasks
    from (
        select t.run_id, t.task_no from pawl.task t
        where t.place = 2 and t.session_id = p_session
        -- Not always the same ones: those of a flow that somebody holds are left, and must not stand before the others.
        -- guard:sweep_any
        order by random()
        limit p_most
        -- guard:sweep_skip_locked
        for update skip locked
    ) h;
    for v_n in 1..coalesce(cardinality(v_runs), 0) loop
        -- Each as it is now: the end of one may have changed the next, if they are of one flow.
        select t.* into v_task
        from pawl.task t
        where t.run_id = v_runs[v_n] and t.task_no = v_tasks[v_n] and t.place = 2 and t.session_id = p_session;
        continue when not found;
        v_count := v_count + 1;
        v_tenant := case when v_bound then v_task.tenant else '' end;
        if not exists (select from unnest(v_queues, v_tenants) w (queue_id, tenant)
                       where w.queue_id = v_task.queue_id and w.tenant = v_tenant) then
            v_queues := v_queues || v_task.queue_id;
            v_tenants := v_tenants || v_tenant;
        end if;
        v_ends := pawl._ends_taken_back(v_task, p_crashed);
        -- guard:sweep_leaves_task
        continue when v_ends is null;
        if p_crashed and v_task.started then
            perform pawl._audit(v_task.run_id, v_task.task_no, v_task.kept, p_now, 'lease_lost',
                json_build_object('session', p_session, 'fence', v_task.fence, 'crashes', v_task.crashes + 1));
        end if;
        perform pawl._take_back(v_task, p_now, p_crashed, v_ends);
    end loop;
    perform pawl._wake_one(w.queue_id, w.tenant, p_now) from unnest(v_queues, v_tenants) w (queue_id, tenant);
    return v_count;
end
$$;
comment on function pawl._release_held(bigint, timestamptz, int, boolean) is 'takes back the tasks of a session and raises their fences';

create or replace function pawl._crash_out(p_task pawl.task, p_now timestamptz)
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
        return pawl._end_run(p_task, 2, null, json_build_object('code', 'rollback_failed', 'error', v_error,
            'cause', p_task.ending -> 'error', 'status', p_task.ending -> 'status', 'not_undone', pawl._undone(p_task)), p_now);
    end if;
    p_task.crashes := 0;
    update pawl.task t set crashes = 0 where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    return pawl._end_or_roll_back(p_task, 2, v_error, true, p_now);
end
$$;
comment on function pawl._crash_out(pawl.task, timestamptz) is 'ends a run whose workers keep dying';

-- Sessions whose lease is over, of one tenant or of all. After a start of the server nobody is swept for one full lease, so an
-- outage of the database costs no attempts.
create or replace function pawl._sweep(p_now timestamptz, p_tenant text default null)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_session bigint;
    v_epoch int := pawl._epoch();
    v_count int := 0;
begin
    -- A lease that ends later than any heartbeat could make it: the clock was set back. That is told from the clock as it is
    -- now. p_now is older by what this round has done so far, and a lease that a heartbeat has made since is not to be cut.
    update pawl.worker w
    -- guard:sweep_clock
    set lease_until = pawl._shift(pawl.now(), w.lease)
    where w.ended_at is null and w.lease_until > pawl._shift(pawl.now(), w.lease)
      and w.session_id = any (array(
          select d.session_id from pawl.worker d
          where d.ended_at is null and d.lease_until > pawl._shift(p_now, d.lease) and (p_tenant is null or d.tenant = p_tenant)
          for update skip locked));
    for v_session in
        select w.session_id
        from pawl.worker w
        where w.ended_at is null
          and (w.session_id >> 32 <> v_epoch
               -- guard:sweep_lease
               or w.lease_until < p_now
                  -- A clock that was set back to before the start of the server does not say how long ago that is.
                  and (p_now > pawl._shift(pg_postmaster_start_time(), w.lease) or p_now < pg_postmaster_start_time()))
          and (p_tenant is null or w.tenant = p_tenant)
        -- Not always the same ones: a session with a task that somebody holds must not stand before the others.
        order by random()
        limit 10
        for update skip locked
    loop
        -- A closed epoch is not the worker''s fault. 500 tasks in all, so that the caller does not wait for long.
        v_count := v_count + pawl._release_held(v_session, p_now, 500 - v_count, v_session >> 32 = v_epoch);
        if not exists (select from pawl.task t where t.place = 2 and t.session_id = v_session) then
            update pawl.worker w
            set ended_at = p_now, idle = false, running = null,
                ended_why = case when w.session_id >> 32 <> v_epoch then 'epoch' else 'lost' end
            where w.session_id = v_session;
        end if;
        exit when v_count >= 500;
    end loop;
    return v_count;
end
$$;
comment on function pawl._sweep(timestamptz, text) is 'takes back what dead sessions hold';

-- Time limits that are over: a run timeout, the grace of a cancelled run, a cancel passed on to a child;
-- and steps that have run past their own limit although their worker lives.
create or replace function pawl._enforce_limits(p_now timestamptz, p_most int)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_limit pawl.wait;
    v_task pawl.task;
    v_done text;
    v_nobody tid[];
    v_count int := 0;
begin
    -- A parent that was cancelled while its child ended leaves a limit of nobody behind. Asked row by row from a bounded
    -- piece: as a join it may read every run there is.
    v_nobody := array(
        select d.ctid
        from (
            select w.ctid, w.run_id
            from pawl.wait w
            where w.kind = 0 and w.due_at <= p_now
            order by w.due_at
            -- guard:limits_of_nobody_piece
            limit p_most
        ) d
        where not pawl._lives(d.run_id));
    if cardinality(v_nobody) > 0 then
        delete from pawl.wait w
        where w.ctid = any (array(
            select d.ctid
            from pawl.wait d
            where d.ctid = any (v_nobody) and d.kind = 0 and not pawl._lives(d.run_id)
            for update skip locked));
    end if;
    for v_limit in
        -- What cannot be locked does not count, or it would stand before the others. The lock on the task is
        -- enough: a commit that ends the run takes it, too.
        select w.*
        from pawl.wait w
        cross join lateral (
            select from pawl.task t where t.run_id = w.run_id and t.task_no = 0 for update skip locked
        ) t
        where w.kind = 0 and w.due_at <= p_now
        order by w.due_at
        limit p_most
    loop
        select t.* into v_task from pawl.task t where t.run_id = v_limit.run_id and t.task_no = 0 for update skip locked;
        -- Another round of housekeeping may have been faster, until the lock.
        continue when v_task.run_id is null or not exists (
            select from pawl.wait w where w.run_id = v_limit.run_id and w.task_no = 0 and w.name = v_limit.name);
        v_count := v_count + 1;
        if v_limit.name <> 'cancel' then
            -- guard:limit_fence
            v_task.fence := v_task.fence + 1;
        end if;
        if v_limit.name = 'cancel' then
            v_done := pawl._cancel_task(v_task, p_now, 'pawl', 'the parent was cancelled', false);
        elsif v_limit.name = 'grace' and v_task.place = 4 then
            v_done := pawl._force_end(v_task, (v_task.ending ->> 'status')::int, v_task.ending -> 'error',
                (v_task.ending ->> 'rollback')::boolean, p_now);
        elsif v_limit.name = 'grace' then
            v_done := pawl._end_or_roll_back(v_task, 3, json_build_object('code', 'cancelled', 'message',
                coalesce(v_task.ending ->> 'why', 'cancelled')), (v_task.ending ->> 'rollback')::boolean, p_now);
        elsif v_task.rolling_back or v_task.ending is not null then
            v_done := 'ok';
        elsif v_task.place = 4 then
            v_done := pawl._force_end(v_task, 2, json_build_object('code', 'timeout', 'message',
                'the run has reached its time limit'), true, p_now);
        else
            v_done := pawl._end_or_roll_back(v_task, 2, json_build_object('code', 'timeout', 'message',
                'the run has reached its time limit'), true, p_now);
        end if;
        if v_done <> 'busy' then
            delete from pawl.wait w
            where w.run_id = v_limit.run_id and w.task_no = v_limit.task_no and w.name = v_limit.name and w.kind < 1;
        else
            -- Its parent, or a task of its flow, is locked for as long as somebody likes. It goes behind the others meanwhile:
            -- p_most of these would stop every other limit.
            update pawl.wait w
            -- guard:limit_put_off
            set due_at = p_now + interval '1 s'
            where w.run_id = v_limit.run_id and w.task_no = v_limit.task_no and w.name = v_limit.name and w.kind = 0;
        end if;
    end loop;
    return v_count + pawl._enforce_step_limits(p_now);
end
$$;
comment on function pawl._enforce_limits(timestamptz, int) is 'ends runs whose time is over';

-- The worker stops a step at its limit; if it did not within five seconds more, the engine takes the task.
create or replace function pawl._enforce_step_limits(p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_hung record;
    v_task pawl.task;
    v_ends boolean;
    v_count int := 0;
begin
    for v_hung in
        select h.*
        from (
            select w.session_id, w.name as worker, (r ->> 'run')::uuid as run_id, coalesce((r ->> 'task')::int, 0) as task_no,
                   r ->> 'step' as step, w.told_at
            from pawl.worker w
            cross join lateral json_array_elements(case when json_typeof(w.running) = 'array' then w.running else '[]' end) r
            where w.ended_at is null and w.running is not null and r ->> 'timeout_ms' is not null
              and w.told_at
                  + ((r ->> 'timeout_ms')::float8 - coalesce((r ->> 'started_ms')::float8, 0) + 5000) * interval '1 ms' < p_now
              -- What was taken away before is told of for as long as it hangs, and must not stand before the others.
              -- One look for each, and not a join, which would read all that is held.
              and w.session_id = (
                  select t.session_id
                  from pawl.task t
                  where t.run_id = (r ->> 'run')::uuid and t.task_no = coalesce((r ->> 'task')::int, 0) and t.place = 2
                    and t.claimed_at <= w.told_at)
            -- Nor must one that somebody has locked.
            order by random()
            limit 100
        ) h
        order by h.run_id, h.task_no
    loop
        select t.* into v_task
        from pawl.task t
        where t.run_id = v_hung.run_id and t.task_no = v_hung.task_no and t.place = 2 and t.session_id = v_hung.session_id
          -- Claimed after that heartbeat, the task is another try.
          and t.claimed_at <= v_hung.told_at
        for update skip locked;
        continue when not found;
        v_task.started := true;
        v_ends := pawl._ends_taken_back(v_task, true);
        -- guard:hung_leaves_task
        continue when v_ends is null;
        v_count := v_count + 1;
        perform pawl._audit(v_hung.run_id, v_hung.task_no, v_task.kept, p_now, 'step_timeout',
            json_build_object('step', v_hung.step, 'worker', v_hung.worker));
        perform pawl._take_back(v_task, p_now, true, v_ends);
    end loop;
    return v_count;
end
$$;
comment on function pawl._enforce_step_limits(timestamptz) is 'takes tasks from workers that let a step hang';

create or replace function pawl.housekeep()
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl.now();
begin
    perform pawl._only_read_committed('housekeep');
    perform pawl._only_unbound('housekeep');
    perform pawl._promote(v_now, 500);
    perform pawl._sweep(v_now);
    perform pawl._enforce_limits(v_now, 100);
    perform pawl._deliver_more(v_now);
    for v_n in 1..10 loop
        perform pawl._do_chore(v_now, null);
    end loop;
end
$$;
comment on function pawl.housekeep() is
'A round of housekeeping now: due timers, dead sessions, time limits, chores. Nobody has to call it: heartbeats and claims do the same work, a piece at a time.
Twice: does what is still to do.
Locks: skips what is locked.
Errors: PW007 the role is bound to one tenant, PW008 isolation level.
Bound: 500 timers, 10 sessions, 100 limits, each chore one piece.';
