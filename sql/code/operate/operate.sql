-- SPDX-License-Identifier: Apache-2.0
-- Actions of an operator on runs: cancel, kill, pause, resume. Each takes a list of up to 1,000 ids.

create or replace function pawl._check_ids(p_verb text, p_runs uuid[])
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed(p_verb);
    perform pawl._bound_tenant(p_verb);
    if coalesce(cardinality(p_runs), 0) > 1000 then
        -- guard:operate_max
        perform pawl._raise('PW009', format('%s runs in one call, the limit is 1000', cardinality(p_runs)));
    end if;
end
$$;
comment on function pawl._check_ids(text, uuid[]) is 'refuses callers without the right, and lists that are too long';

-- Locks a run that has not ended, waiting until p_until at most. Returns a row of nulls if the run could not be locked.
create or replace function pawl._grab(p_run uuid, p_until timestamptz)
returns pawl_data.task
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_task pawl_data.task;
    v_bound text := pawl._bound_tenant(null);
begin
    loop
        select t.* into v_task
        from pawl_data.task t where t.run_id = p_run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)
        -- guard:grab_lock
        for update skip locked;
        -- For a flow, locks every task and the flows above it as well.
        if found and v_task.place = 'o' and not (pawl._lock_flow(p_run) and pawl._lock_tasks(p_run)) then
            if clock_timestamp() >= p_until then
                return null;
            end if;
            perform pg_sleep(0.01);
            continue;
        end if;
        -- Real time, not pawl.now(): a test clock may stand still.
        if v_task.run_id is not null or clock_timestamp() >= p_until or not exists (
            select from pawl_data.task t where t.run_id = p_run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)) then
            return v_task;
        end if;
        perform pg_sleep(0.01);
    end loop;
    return null;
end
$$;
comment on function pawl._grab(uuid, timestamptz) is 'locks a run for an operator, waiting two seconds at most';

-- Why a run could not be grabbed: busy, not_found, or the state it has ended in.
create or replace function pawl._not_grabbed(p_run uuid)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bound text := pawl._bound_tenant(null);
begin
    if exists (select from pawl_data.task t where t.run_id = p_run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)) then
        return 'busy';
    end if;
    return coalesce((
        select pawl._state_name(r.status)
        from pawl._runs(array[p_run]) r
        where v_bound is null or r.tenant = v_bound
        order by r.round desc limit 1), 'not_found');
end
$$;
comment on function pawl._not_grabbed(uuid) is 'the answer for a run that could not be locked';

create or replace function pawl._cancel_runs(p_runs uuid[], p_why text, p_rollback boolean, p_by text)
returns table (run_id uuid, answer text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Locked in the order of the ids, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl._write_time();
    v_until timestamptz := clock_timestamp() + interval '2 s';
    v_task pawl_data.task;
begin
    for run_id, v_n in select u.r, u.n from unnest(p_runs) with ordinality u (r, n) order by u.r, u.n loop
        v_task := pawl._grab(run_id, v_until);
        answer := case when v_task.run_id is null then pawl._not_grabbed(run_id) end;
        if v_task.run_id is not null then
            answer := pawl._cancel_task(v_task, v_now, p_by, p_why, p_rollback);
        elsif answer = 'CANCELLED' then
            answer := 'already';
        end if;
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(p_runs, v_answers) u (r, a);
end
$$;
comment on function pawl._cancel_runs(uuid[], text, boolean, text) is 'cancel, of callers whose right was checked';

create or replace function pawl.cancel(runs uuid[], why text default null, rollback boolean default false, by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('cancel', runs);
    return query select a.* from pawl._cancel_runs(runs, why, rollback, pawl._by(by)) a;
end
$$;
comment on function pawl.cancel(uuid[], text, boolean, text) is
'Cancels runs: durable and final, so that after ok a run never ends SUCCESS. A run that no worker holds ends at once. A worker that holds the run is notified at its next call or heartbeat and has a grace period of 30 seconds. With rollback, its undos are executed first. Children follow unless detached. Answers, one row for each id in the order given: ok, already, busy (another transaction held it for two seconds; call again), not_found, or the state it has ended in (ERROR also for a run that has failed and is ending or rolled back).
If repeated: answers already.
Locks: each run in the order of the ids, then its parent; waits two seconds at most in all.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 another transaction is making a partition that it needs: send it again.
Limits: 1,000 runs.';

create or replace function pawl._kill_runs(p_runs uuid[], p_why text, p_by text)
returns table (run_id uuid, answer text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Locked in the order of the ids, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl._write_time();
    v_until timestamptz := clock_timestamp() + interval '2 s';
    v_task pawl_data.task;
    v_error json;
begin
    for run_id, v_n in select u.r, u.n from unnest(p_runs) with ordinality u (r, n) order by u.r, u.n loop
        v_task := pawl._grab(run_id, v_until);
        answer := case when v_task.run_id is null then pawl._not_grabbed(run_id) end;
        if v_task.run_id is not null then
            -- guard:kill_fence
            v_task.fence := v_task.fence + 1;
            v_error := json_build_object('code', 'killed', 'message', coalesce(p_why, 'killed'));
            -- Tasks of a flow that had started leave a record, for the rollback of a later round.
            -- guard:kill_undo
            answer := case when v_task.place = 'o' then pawl._force_end(v_task, 'c', v_error, false, v_now)
                           else pawl._end_run(v_task, 'c', null, v_error, v_now) end;
            if answer = 'ok' then
                perform pawl._audit(run_id, 0, v_task.kept or exists (select from pawl_data.run_kept k where k.run_id = v_task.run_id), v_now,
                    'kill', json_build_object('why', p_why), p_by);
            end if;
        elsif answer = 'CANCELLED' then
            answer := 'already';
        end if;
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(p_runs, v_answers) u (r, a);
end
$$;
comment on function pawl._kill_runs(uuid[], text, text) is 'kill, of callers whose right was checked';

create or replace function pawl.kill(runs uuid[], why text default null, by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('kill', runs);
    return query select a.* from pawl._kill_runs(runs, why, pawl._by(by)) a;
end
$$;
comment on function pawl.kill(uuid[], text, text) is
'Ends runs as CANCELLED without notifying their workers: the fence is raised, so that these can write nothing more. No rollback. Answers as cancel.
If repeated: answers already.
Locks: as cancel.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 another transaction is making a partition that it needs: send it again.
Limits: 1,000 runs.';

create or replace function pawl._pause_runs(p_runs uuid[], p_why text, p_by text)
returns table (run_id uuid, answer text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Locked in the order of the ids, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl.now();
    v_until timestamptz := clock_timestamp() + interval '2 s';
    v_task pawl_data.task;
begin
    for run_id, v_n in select u.r, u.n from unnest(p_runs) with ordinality u (r, n) order by u.r, u.n loop
        v_task := pawl._grab(run_id, v_until);
        answer := case when v_task.run_id is null then pawl._not_grabbed(run_id) end;
        if v_task.run_id is not null then
            answer := case when v_task.paused is not null then 'already' else 'ok' end;
            if answer = 'ok' then
                update pawl_data.task t
                set paused = json_build_object('at', v_now, 'by', p_by, 'why', p_why,
                        'due', case when t.place = 'w' then t.due_at end, 'reason', t.reason),
                    -- A run that was ready is ready again after resume, whatever else it waits for.
                    woken = t.woken or t.place in ('r', 's', 'l'),
                    place = case when t.place in ('h', 'o') then t.place else 'w' end,
                    due_at = case when t.place in ('h', 'o') then t.due_at else 'infinity' end,
                    reason = case when t.place in ('h', 'o') then t.reason else 'operator' end
                where t.run_id = v_task.run_id and t.paused is null;
                -- guard:pause_leaves_lane
                if v_task.place = 'l' then
                    perform pawl._leave_lane(v_task, v_now, false);
                end if;
                perform pawl._audit(run_id, 0, v_task.kept, v_now, 'pause', json_build_object('why', p_why),
                    p_by);
            end if;
        end if;
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(p_runs, v_answers) u (r, a);
end
$$;
comment on function pawl._pause_runs(uuid[], text, text) is 'pause, of callers whose right was checked';

create or replace function pawl.pause(runs uuid[], why text default null, by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('pause', runs);
    return query select a.* from pawl._pause_runs(runs, why, pawl._by(by)) a;
end
$$;
comment on function pawl.pause(uuid[], text, text) is
'Pauses runs: the current step finishes and is recorded, and no new step is claimed. Events and signals are stored, and time limits still count. Child runs continue; pause them by their own ids. Answers ok, already, busy, not_found, or the state it has ended in.
If repeated: answers already.
Locks: each run in the order of the ids; waits two seconds at most in all.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 another transaction is making a partition that it needs: send it again.
Limits: 1,000 runs.';

create or replace function pawl._resume_runs(p_runs uuid[], p_by text)
returns table (run_id uuid, answer text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Locked in the order of the ids, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl._write_time();
    v_until timestamptz := clock_timestamp() + interval '2 s';
    v_task pawl_data.task;
    v_due timestamptz;
    v_kept boolean;
    v_queues int[];
    v_tenant text;
begin
    for run_id, v_n in select u.r, u.n from unnest(p_runs) with ordinality u (r, n) order by u.r, u.n loop
        v_task := pawl._grab(run_id, v_until);
        answer := case when v_task.run_id is null then pawl._not_grabbed(run_id) end;
        if v_task.run_id is not null then
            answer := case when exists (select from pawl_data.task t where t.run_id = v_task.run_id and t.paused is not null)
                           then 'ok' else 'already' end;
            if answer = 'ok' then
                v_queues := array[]::int[];
                v_tenant := v_task.tenant;
                for v_task in select t.* from pawl_data.task t where t.run_id = v_task.run_id and t.paused is not null loop
                    -- While the task was paused, its wait may have been completed. An unneeded claim does no harm; a missing claim would.
                    v_due := coalesce(case when not v_task.woken then pawl._due_of(v_task) end, v_now);
                    update pawl_data.task t
                    set paused = null, woken = t.place = 'h' and t.woken,
                        place = case when t.place in ('h', 'o') then t.place when v_due > v_now then 'w' else pawl._ready_place(t.crashes) end,
                        due_at = case when t.place in ('h', 'o') then t.due_at else greatest(v_due, v_now) end,
                        reason = case when t.place in ('h', 'o') then null
                                      when v_due > v_now then coalesce(v_task.paused ->> 'reason', 'sleep') end
                    where t.run_id = v_task.run_id and t.task_no = v_task.task_no;
                    v_kept := v_task.kept;
                    if v_task.queue_id <> all (v_queues) then
                        v_queues := v_queues || v_task.queue_id;
                    end if;
                end loop;
                perform pawl._audit(run_id, 0, v_kept, v_now, 'resume', null, p_by);
                perform pawl._wake_one(q, v_tenant, v_now) from unnest(v_queues) q;
            end if;
        end if;
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(p_runs, v_answers) u (r, a);
end
$$;
comment on function pawl._resume_runs(uuid[], text) is 'resume, of callers whose right was checked';

create or replace function pawl.resume(runs uuid[], by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('resume', runs);
    return query select a.* from pawl._resume_runs(runs, pawl._by(by)) a;
end
$$;
comment on function pawl.resume(uuid[], text) is
'Resumes paused runs where they were: a run that slept still sleeps until its time. Answers as pause.
If repeated: answers already.
Locks: as pause.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 another transaction is making a partition that it needs: send it again.
Limits: 1,000 runs.';

-- Returns when a run that no worker holds is next due by its own waits and retries; null means now.
create or replace function pawl._due_of(p_task pawl_data.task)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce((
        select min(d.due_at)
        from (
            select w.due_at from pawl_data.wait w where w.run_id = p_task.run_id and w.task_no = p_task.task_no and w.kind <> 'l'
            union all
            select (e.value ->> 'due')::timestamptz from json_each(coalesce(p_task.retries, '{}')) e
        ) d (due_at)), (p_task.paused ->> 'due')::timestamptz);
end
$$;
comment on function pawl._due_of(pawl_data.task) is 'when the first wait or try of a run is due';

