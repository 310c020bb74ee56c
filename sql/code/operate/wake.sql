-- SPDX-License-Identifier: Apache-2.0
-- Waking: an operator ends what only time would end, a backoff, a delay or a sleep.

-- Whether p_step, the name that an operator gave, means this step: its shown name, with or without its number. Null means any step.
create or replace function pawl._is_meant(p_step text, p_shown text)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_step is null or coalesce(p_step in (p_shown, regexp_replace(p_shown, '#[0-9]+$', '')), false);
end
$$;
comment on function pawl._is_meant(text, text) is 'whether a name is the one that an operator gave';

-- Ends timers of one task and returns their names, or an empty list. The caller holds the rows of the task and of its run.
create or replace function pawl._wake_task(p_run pawl_data.task, p_task pawl_data.task, p_step text, p_now timestamptz)
returns text[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_open record;
    v_label text;
    v_woken text[] := array[]::text[];
    v_tried text[] := array[]::text[];
begin
    -- 1. A worker claims the run while its sleep is still open in another branch, or an operator pauses it. 2. An operator wakes it.
    -- Without the test the sleep would be recorded while the worker writes its own records, or the paused run would become ready.
    -- guard:wake_only_waiting
    if p_task.place <> 'w' or p_task.paused is not null or p_task.due_at <= p_now
       -- 1. A run is cancelled while a branch of it sleeps. 2. Its worker is lost, and it waits for the end of its grace period. 3. An
       -- operator wakes it. Without the test it would be ready, and a worker would execute a cancelled run.
       -- guard:wake_not_ending
       or p_run.ending is not null and not p_run.rolling_back then
        return v_woken;
    end if;
    for v_open in
        select o.*
        from pawl._open_waits(p_task.run_id, p_task.task_no, p_now, 2000) o
        where o.kind in ('delay', 'retry', 'sleep')
    loop
        v_label := case when p_task.task_no > 0 then pawl._shown_name(p_task.run_id, p_task.task_no, v_open.name) else nullif(v_open.name, '') end;
        continue when not pawl._is_meant(p_step, v_label);
        if v_open.kind = 'sleep' then
            -- The sleep ends as if its time had passed.
            perform pawl._settle(p_task, v_open.wait, 's', null, null, null, p_now);
        elsif v_open.kind = 'retry' then
            v_tried := v_tried || v_open.name;
        -- A run that has started may wait like one with a delay, because a claim has deferred it. Its limit counts from its start.
        -- guard:wake_started
        elsif p_run.started_at is null then
            perform pawl._start_early(p_task, p_now);
        end if;
        v_woken := v_woken || coalesce(v_label, v_open.kind);
    end loop;
    if cardinality(v_tried) > 0 then
        update pawl_data.task t
        -- 1. A step has failed, and its next attempt is due in an hour. 2. An operator wakes the run, and a worker claims it. Without the
        -- new time the worker would see that the attempt is not due, and let the run wait again.
        -- guard:wake_tries
        set retries = (
            select json_object_agg(e.key, case when e.key = any (v_tried) then (
                select json_object_agg(f.key, case when f.key = 'due' then to_json(p_now) else f.value end) from json_each(e.value) f)
                else e.value end)
            from json_each(t.retries) e)
        where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    end if;
    if cardinality(v_woken) > 0 then
        perform pawl._make_ready(p_task, p_now);
    end if;
    return v_woken;
end
$$;
comment on function pawl._wake_task(pawl_data.task, pawl_data.task, text, timestamptz) is 'ends the timers of one task';

-- A run that starts before its time has the time limits that it would have had then, counted from now.
create or replace function pawl._start_early(p_task pawl_data.task, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- The run of a flow is due when its first tasks are; the first of them moves the limit. A step may have its own delay, but no limit
    -- counts from that.
    if exists (select from pawl_data.task t where t.run_id = p_task.run_id and t.task_no = 0 and t.due_at = p_task.due_at) then
        update pawl_data.wait w
        -- 1. A run with a time limit of an hour is delayed by ten days. 2. An operator wakes it. Without the change the run could take ten
        -- days and an hour.
        -- guard:wake_moves_limit
        set due_at = pawl._shift(w.due_at, p_now - p_task.due_at)
        where w.run_id = p_task.run_id and w.task_no = 0 and w.name in ('timeout', 'expires') and w.kind::text = 'l';
        update pawl_data.task t set due_at = p_now where t.run_id = p_task.run_id and t.task_no = 0 and t.place = 'o';
    end if;
end
$$;
comment on function pawl._start_early(pawl_data.task, timestamptz) is 'moves the time limits of a run that starts before its time';

-- Why there was nothing to wake, of a run that the caller holds.
create or replace function pawl._not_woken(p_run pawl_data.task, p_step text, p_now timestamptz, out answer text, out reason text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_open record;
begin
    answer := 'refused';
    select o.* into v_open from pawl._open_waits(p_run.run_id, null, p_now, 1) o;
    if p_run.ending is not null and not p_run.rolling_back then
        reason := 'it is ending';
    elsif p_run.paused is not null then
        reason := 'it is paused: resume it';
    elsif p_run.place = 'o' and p_step is not null then
        reason := format('step "%s" neither sleeps nor waits for its next attempt', p_step);
    elsif exists (select from pawl_data.task t where t.run_id = p_run.run_id and t.place::text = 'h') then
        reason := 'a worker holds it';
    elsif exists (
        select from pawl_data.task t where t.run_id = p_run.run_id and (t.place in ('r', 's', 'l') or t.place = 'w' and t.due_at <= p_now)) then
        answer := 'already';
    elsif p_step is not null then
        reason := format('step "%s" neither sleeps nor waits for its next attempt', p_step);
    else
        reason := format('it waits for %s, and a wake ends only a backoff, a delay or a sleep',
            coalesce(pawl._wait_text(v_open.kind, v_open.name, v_open.due_at, v_open.wait, p_now), 'an operator'));
    end if;
end
$$;
comment on function pawl._not_woken(pawl_data.task, text, timestamptz) is 'the answer for a run that has nothing to wake';

create or replace function pawl._wake_runs(p_runs uuid[], p_step text, p_why text, p_by text)
returns table (run_id uuid, answer text, reason text)
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
    v_reasons text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl._write_time();
    v_until timestamptz := clock_timestamp() + interval '2 s';
    v_run pawl_data.task;
    v_task pawl_data.task;
    v_woken text[];
begin
    for run_id, v_n in select u.r, u.n from unnest(p_runs) with ordinality u (r, n) order by u.r, u.n loop
        v_run := pawl._grab(run_id, v_until);
        v_woken := array[]::text[];
        answer := case when v_run.run_id is null then pawl._not_grabbed(run_id) else 'ok' end;
        reason := null;
        for v_task in
            -- ::text: by the run, and not by the index of all that wait.
            select t.* from pawl_data.task t where t.run_id = v_run.run_id and t.place::text = 'w' order by t.task_no limit 1000
        loop
            v_woken := v_woken || pawl._wake_task(v_run, v_task, p_step, v_now);
        end loop;
        if cardinality(v_woken) > 0 then
            perform pawl._audit(run_id, 0, v_run.kept, v_now, 'wake', json_build_object('why', p_why, 'ended', v_woken[:100]),
                p_by);
        elsif answer = 'ok' then
            select n.answer, n.reason into answer, reason from pawl._not_woken(v_run, p_step, v_now) n;
        end if;
        v_answers[v_n] := answer;
        v_reasons[v_n] := reason;
    end loop;
    return query select u.r, u.a, u.e from unnest(p_runs, v_answers, v_reasons) u (r, a, e);
end
$$;
comment on function pawl._wake_runs(uuid[], text, text, text) is 'wake, of callers whose right was checked';

create or replace function pawl.wake(runs uuid[], step text default null, why text default null, by text default null)
returns table (run_id uuid, answer text, reason text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('wake', runs);
    return query select a.* from pawl._wake_runs(runs, step, why, pawl._by(by)) a;
end
$$;
comment on function pawl.wake(uuid[], text, text, text) is
'Ends the backoffs, the delay and the sleeps of runs now, so that they continue at once; with step, only those of the step of that name. A sleep is recorded as slept. A time limit of the run counts from an early start. Returns one row for each id in the order given. The answer is ok; already (the run is queued); refused, with the reason (a worker holds the run; the run is paused or ending; it waits only for an event, a signal, an approval or a child); busy (another transaction held the run for two seconds; call again); not_found; or the state it has ended in.
If repeated: ends what the run waits for by then, or answers already.
Locks: each run in the order of the ids, of a flow with its tasks; waits two seconds at most in all.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 another transaction is making a partition that it needs: send it again.
Limits: 1,000 runs, and 1,000 tasks of each.';
