-- SPDX-License-Identifier: Apache-2.0
-- Items that end or interrupt a claim (complete, fail, suspend, release, drift), and the two that only report something about it (start,
-- note).

create or replace function pawl._commit_close(
    p_task pawl_data.task, p_now timestamptz, p_kind text, p_name text, p_payload text, p_option json, out answer text,
    out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    answer := 'ok';
    if p_kind = 'complete' then
        select c.answer, c.reason into answer, reason from pawl._complete(p_task, p_now, p_payload, p_option) c;
    elsif p_kind = 'fail' then
        select f.answer, f.value into answer, value from pawl._fail(p_task, p_now, p_payload, p_option) f;
    elsif p_kind = 'suspend' then
        select s.answer, s.reason into answer, reason from pawl._suspend(p_task, p_now) s;
    elsif p_kind = 'release' then
        -- The worker did not start the task, or does not recognize it: as if it had never been claimed, except for the fence.
        update pawl_data.task t
        set place = case when t.paused is not null then 'w' else pawl._ready_place(t.crashes) end,
            due_at = case when t.paused is not null then 'infinity' else t.due_at end,
            reason = case when t.paused is not null then 'operator' end,
            session_id = null, request = null, execution = t.execution - t.started::int,
            recorded = t.recorded or t.started, started = false, woken = t.paused is not null
        where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
        -- guard:release_leaves_lane
        if p_task.lane is not null then
            perform pawl._leave_lane(p_task, p_now, false);
        end if;
        perform pawl._wake_one(p_task.queue_id, p_task.tenant, p_now);
    elsif p_kind = 'drift' then
        perform pawl._pause_for_drift(p_task, p_now, coalesce(p_name, '?'), coalesce(p_option ->> 'recorded', '?'),
            coalesce(p_option ->> 'asked', '?'));
    elsif p_kind = 'start' then
        if p_task.started then
            answer := 'already';
        else
            update pawl_data.task t
            set started = true, execution = t.execution + 1, started_at = coalesce(t.started_at, p_now)
            where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
        end if;
    else
        select n.answer, n.reason into answer, reason from pawl._put_note(p_task, p_now, p_name, p_payload, p_option) n;
    end if;
end
$$;
comment on function pawl._commit_close(pawl_data.task, timestamptz, text, text, text, json) is 'commits an item about the claim as a whole';

create or replace function pawl._complete(p_task pawl_data.task, p_now timestamptz, p_payload text, p_option json, out answer text, out reason text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_left json;
begin
    if p_task.rolling_back then
        v_left := pawl._undone(p_task);
        if json_array_length(v_left) > 0 then
            answer := 'refused';
            reason := format('not undone yet: %s', v_left);
            return;
        end if;
        answer := pawl._end_run(p_task, pawl._status_code(p_task.ending ->> 'status'), null, p_task.ending -> 'error', p_now);
        return;
    end if;
    if json_array_length(p_option -> 'unused') > 0 and (
        select w.strict_order from pawl_data.queue q join pawl_data.workflow w on w.workflow_id = q.workflow_id
        where q.queue_id = p_task.queue_id) then
        perform pawl._audit(p_task.run_id, p_task.task_no, p_task.kept, p_now, 'unused_records', p_option -> 'unused');
        perform pawl._pause_for_drift(p_task, p_now, p_option -> 'unused' ->> 0, 'done', 'nothing');
        answer := 'refused';
        reason := 'drift';
        return;
    end if;
    answer := pawl._end_run(p_task, 's', coalesce(p_payload, 'null')::json, null, p_now);
    -- Only if the answer is ok. 1. The parent is locked, and this item is answered busy. 2. The worker sends the item again. Without the
    -- test each repetition would write another audit row.
    -- guard:unused_once
    if answer = 'ok' and json_array_length(p_option -> 'unused') > 0 then
        perform pawl._audit(p_task.run_id, p_task.task_no, pawl._is_kept(p_task), p_now, 'unused_records', p_option -> 'unused');
    end if;
end
$$;
comment on function pawl._complete(pawl_data.task, timestamptz, text, json) is 'ends a run that its handler finished';

create or replace function pawl._fail(
    p_task pawl_data.task, p_now timestamptz, p_payload text, p_option json, out answer text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_error json := coalesce(p_payload, '{}')::json;
    v_failure record;
begin
    if p_task.rolling_back then
        answer := pawl._end_run(p_task, 'e', null, json_build_object('code', 'rollback_failed', 'error', v_error,
            'cause', p_task.ending -> 'error', 'status', p_task.ending -> 'status', 'not_undone', pawl._undone(p_task)), p_now);
        return;
    end if;
    if not coalesce((p_option ->> 'final')::boolean, false) then
        select f.* into v_failure from pawl._count_failure(p_task, '', v_error, p_option, p_now) f;
        if not v_failure.final then
            perform pawl._let_go(p_task, p_now, v_failure.due, 'retry');
            answer := 'ok';
            value := json_build_object('final', false, 'failures', v_failure.n, 'delay_ms',
                (1000 * date_part('epoch', v_failure.due - p_now))::bigint);
            return;
        end if;
    end if;
    answer := pawl._end_or_roll_back(p_task, 'e', v_error, true, p_now);
    value := json_build_object('final', true);
end
$$;
comment on function pawl._fail(pawl_data.task, timestamptz, text, json) is 'repeats or ends a run whose handler returned an error';

-- Releases a task that waits until p_due. If an operator has paused it, it waits for the resume instead.
create or replace function pawl._let_go(p_task pawl_data.task, p_now timestamptz, p_due timestamptz, p_reason text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.task t
    set place = case when t.paused is not null or p_due > p_now then 'w' else pawl._ready_place(t.crashes) end,
        due_at = case when t.paused is not null then 'infinity' else p_due end,
        reason = case when t.paused is not null then 'operator' when p_due > p_now then p_reason end,
        session_id = null, request = null, started = false, recorded = true,
        -- For resume(): whether the task was due at once (woken), or when it is due and what it waits for (paused).
        woken = t.paused is not null and p_due <= p_now,
        paused = case when t.paused is not null then json_build_object('at', t.paused -> 'at', 'by', t.paused -> 'by',
            'why', t.paused -> 'why', 'due', p_due, 'reason', p_reason) end
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    -- guard:let_go_leaves_lane
    if p_task.lane is not null then
        perform pawl._leave_lane(p_task, p_now, false);
    end if;
end
$$;
comment on function pawl._let_go(pawl_data.task, timestamptz, timestamptz, text) is 'makes a held task wait until it is due';

-- Suspends a run of which no branch can continue. The run is due when the first of its waits and retries is due.
create or replace function pawl._suspend(p_task pawl_data.task, p_now timestamptz, out answer text, out reason text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_due timestamptz;
    v_why text;
begin
    answer := 'ok';
    -- guard:suspend_woken
    if p_task.woken then
        perform pawl._let_go(p_task, p_now, p_now, null);
        return;
    end if;
    -- A retry that was due at the claim already, and that the handler did not execute, sorts last. Otherwise a run whose code took another
    -- way would be due again at once after each suspend.
    select d.due_at, d.why into v_due, v_why
    from (
        select w.due_at, case w.kind when 'a' then 'signal' else pawl._kind_name(w.kind) end, false
        from pawl_data.wait w where w.run_id = p_task.run_id and w.task_no = p_task.task_no and w.kind <> 'l'
        union all
        select (e.value ->> 'due')::timestamptz, 'retry', (e.value ->> 'due')::timestamptz <= p_task.claimed_at
        from json_each(coalesce(p_task.retries, '{}')) e where e.key <> ''
    ) d (due_at, why, old)
    order by d.old, d.due_at
    limit 1;
    if not found then
        answer := 'refused';
        reason := 'the run waits for nothing';
        return;
    end if;
    perform pawl._let_go(p_task, p_now, v_due, v_why);
end
$$;
comment on function pawl._suspend(pawl_data.task, timestamptz) is 'lets a run wait for the first of its waits and tries';

