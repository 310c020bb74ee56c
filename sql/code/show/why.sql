-- SPDX-License-Identifier: Apache-2.0
-- One sentence that says what a run waits for, and what to do about it.

create or replace function pawl._ago(p_time interval)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_s double precision := greatest(date_part('epoch', p_time), 0);
begin
    return case
        when v_s < 120 then format('%s s', round(v_s))
        when v_s < 7200 then format('%s min', round(v_s / 60))
        when v_s < 172800 then format('%s h', round(v_s / 3600))
        else format('%s days', round(v_s / 86400)) end;
end
$$;
comment on function pawl._ago(interval) is 'a human-readable length of time';

-- A sentence of why() quotes names, errors and values from outside. In a terminal their control characters would be obeyed.
create or replace function pawl._one_line(p_text text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:why_one_line
    return regexp_replace(p_text, '[[:cntrl:]]', ' ', 'g');
end
$$;
comment on function pawl._one_line(text) is 'a text without control characters';

create or replace function pawl.why(run uuid)
returns text
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl.now();
    v_bound text := pawl._bound_tenant('why');
    v_task pawl_data.task;
    v_shown pawl_data.task;
    v_why text;
begin
    select t.* into v_task
    from pawl_data.task t where t.run_id = run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound);
    if not found then
        return pawl._one_line(pawl._why_ended(run, v_now, v_bound) || pawl._why_started((pawl._last_run(run)).key));
    end if;
    v_shown := v_task;
    if v_task.place = 'o' then
        select f.* into v_shown from pawl._shown_task(run, v_now) f;
        v_why := pawl._why_flow(v_task, v_shown, v_now);
    else
        v_why := pawl._why_task(v_task, v_now);
    end if;
    if v_task.ending is not null then
        return pawl._one_line(v_why || pawl._why_started(v_task.key));
    end if;
    -- The sentence of a run that waits names the first of its waits. A run of a flow may have no task, only children.
    return pawl._one_line(v_why || coalesce(pawl._also_waits(run, v_now,
        (v_shown.run_id is null or v_shown.place = 'w' and v_shown.paused is null and v_shown.due_at > v_now)::int), '')
        || case when v_task.attached then pawl._why_expires(v_task, v_now) else '' end || pawl._why_replaced(v_task) || pawl._why_started(v_task.key));
end
$$;
comment on function pawl.why(uuid) is
'States in one line what a run is doing or waiting for, and what to do about it; for an ended run, how and when it ended. The first wait that it names can wake the run first; up to ten other waits follow. For a run that a subscription has started, it names the event.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW001 no such run.
Limits: 1,000 tasks and 1,000 waits of the run examined.';

-- No other run has such a key: see _check_trigger().
create or replace function pawl._why_started(p_key text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when starts_with(p_key, 'event/')
                then format(' Started by event %s (subscription %s).', split_part(p_key, '/', 3), split_part(p_key, '/', 2)) else '' end;
end
$$;
comment on function pawl._why_started(text) is 'the sentence for the event that started a run';

-- The limit stays after a worker has claimed the run in time, and means nothing then.
create or replace function pawl._why_expires(p_task pawl_data.task, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce((
        select case when w.due_at > p_now and w.seq = 0 then format(' It expires in %s if no worker claims it.', pawl._ago(w.due_at - p_now))
                    else ' It has expired: the next pawl.tick() ends it.' end
        from pawl_data.wait w
        where w.run_id = p_task.run_id and w.task_no = 0 and w.name = 'expires' and w.kind::text = 'l'
          -- guard:why_expires
          and not pawl._was_claimed(p_task)), '');
end
$$;
comment on function pawl._why_expires(pawl_data.task, timestamptz) is 'the sentence for the time in which a run must be claimed';

create or replace function pawl._why_replaced(p_task pawl_data.task)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
as $$
begin
    return coalesce((
        select format(' Until a worker claims it, a trigger with key "%s", and debounce or replace, gives it another input%s.', p_task.key,
            case when p_task.reason = 'delay' then '; with debounce it then starts later' else '' end)
        from pawl_data.key k
        join pawl_data.queue q on q.queue_id = p_task.queue_id
        -- guard:why_replaced
        where p_task.claimed_at is null and k.key = p_task.key and k.tenant = p_task.tenant and k.workflow_id = q.workflow_id
          and k.run_id = p_task.run_id and k.last_id is not null), '');
end
$$;
comment on function pawl._why_replaced(pawl_data.task) is 'the sentence for a run whose input may change';

create or replace function pawl._why_paused(p_paused json, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return format('Paused%s at %s (%s ago)%s. Resume it with pawl.resume().', coalesce(' by ' || (p_paused ->> 'by'), ''),
        to_char((p_paused ->> 'at')::timestamptz, 'YYYY-MM-DD HH24:MI:SS'), pawl._ago(p_now - (p_paused ->> 'at')::timestamptz),
        coalesce(': ' || left(p_paused ->> 'why', 200), ''));
end
$$;
comment on function pawl._why_paused(json, timestamptz) is 'the sentence for what an operator has paused';

create or replace function pawl._why_task(p_task pawl_data.task, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_worker pawl_data.worker;
    v_queue pawl_data.queue;
begin
    select q.* into v_queue from pawl_data.queue q where q.queue_id = p_task.queue_id;
    select w.* into v_worker from pawl_data.worker w where w.session_id = p_task.session_id;
    if p_task.place = 'h' then
        return pawl._why_held(p_task, v_worker, v_queue, p_now);
    end if;
    if p_task.paused is not null then
        return pawl._why_paused(p_task.paused, p_now);
    end if;
    if p_task.place = 'w' and p_task.due_at > p_now then
        return pawl._why_waiting(p_task, p_now);
    end if;
    return pawl._why_queued(p_task, v_queue, p_now);
end
$$;
comment on function pawl._why_task(pawl_data.task, timestamptz) is 'the sentence for one task that has not ended';

-- Returns the sentence for a run of a flow: how many of its tasks are open, and what the task that is furthest waits for.
create or replace function pawl._why_flow(p_run pawl_data.task, p_shown pawl_data.task, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_wait pawl_data.wait;
    v_open bigint;
    v_why text;
begin
    select count(*) into v_open
    from (select from pawl_data.task t where t.run_id = p_run.run_id and t.task_no > 0 limit 10001) c;
    if p_run.ending is not null then
        return format('Ending: %s %s ago. %s; no new step starts.',
            case when p_run.ending ->> 'status' = 'CANCELLED' then 'cancelled' else 'a step failed' end,
            pawl._ago(p_now - (p_run.ending ->> 'at')::timestamptz),
            case v_open when 0 then 'No task is held' when 1 then '1 task is still held' else v_open || ' tasks are still held' end);
    end if;
    if p_run.paused is not null and p_shown.place is distinct from 'h' then
        return pawl._why_paused(p_run.paused, p_now);
    end if;
    if p_shown.run_id is null then
        select w.* into v_wait
        from pawl_data.wait w where w.run_id = p_run.run_id and w.kind = 'c' order by w.seq, w.task_no limit 1;
        return format('Step %s: waiting for child run %s since %s.', pawl._shown_name(p_run.run_id, v_wait.task_no, null), v_wait.child_id,
            to_char(v_wait.created_at, 'YYYY-MM-DD HH24:MI:SS'));
    end if;
    v_why := pawl._why_task(p_shown, p_now);
    return format('Step %s%s: %s', pawl._shown_name(p_run.run_id, p_shown.task_no, null),
        case when v_open > 10000 then ' (1 of over 10000 open tasks)' when v_open > 1 then format(' (1 of %s open tasks)', v_open) else '' end,
        lower(left(v_why, 1)) || substr(v_why, 2));
end
$$;
comment on function pawl._why_flow(pawl_data.task, pawl_data.task, timestamptz) is 'the sentence for a run of a flow';

create or replace function pawl._why_ended(p_run uuid, p_now timestamptz, p_bound text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl_data.run := pawl._last_run(p_run);
    v_ago text := pawl._ago(p_now - v_run.ended_at);
    v_next text := case when v_run.rolled_back and pawl._was_undone(p_run) then 'Its steps were rolled back, so it cannot be retried. Start a new run with pawl.fork().'
                        else 'Retry it with pawl.retry().' end;
begin
    if v_run.run_id is null or v_run.tenant <> coalesce(p_bound, v_run.tenant) then
        perform pawl._raise('PW001', format('run %s not found', p_run), 'Check the id: the run may be older than the retention, or in another database.');
    end if;
    if v_run.error ->> 'code' = 'rollback_failed' then
        return format('Ended ERROR %s ago: %s. Not undone: %s. Fix the cause and call pawl.rollback_retry(), or skip it with pawl.rollback_skip().', v_ago,
            case when v_run.error -> 'error' ->> 'code' = 'record_too_large' then 'its undos are larger than one claim can return'
                 else 'an undo failed' end, left(v_run.error ->> 'not_undone', 1000));
    end if;
    if v_run.status = 's' then
        return format('Ended SUCCESS %s ago.', v_ago);
    end if;
    return format('%s %s ago%s. %s', case v_run.status when 'e' then 'Ended ERROR' else 'Ended CANCELLED' end, v_ago,
        -- guard:why_short
        coalesce(': ' || left(coalesce(v_run.error ->> 'message', v_run.error ->> 'code', v_run.error::text), 200), ''), v_next);
end
$$;
comment on function pawl._why_ended(uuid, timestamptz, text) is 'the sentence for a run that has ended';

create or replace function pawl._why_held(p_task pawl_data.task, p_worker pawl_data.worker, p_queue pawl_data.queue, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_step text;
    v_grace timestamptz;
begin
    if pawl._is_live(p_worker.session_id, p_worker.ended_at, p_worker.lease_until, p_now) is not true then
        return format('Queued: worker %s lost it when its %s%s.',
            p_worker.name, case when p_worker.lease_until < p_now then format('lease expired %s ago', pawl._ago(p_now - p_worker.lease_until))
                                else 'session ended' end,
            -- guard:why_lost_alone
            case when pawl._why_no_worker(p_task, p_queue, p_now) is not null then format(', and no worker takes runs of %s now. Start one', p_queue.name)
                 when pawl._keeper_missing(p_now) then '. ' || pawl._keeper_cure()
                 else '. A live worker reclaims it within seconds' end);
    end if;
    if p_task.ending is not null and not p_task.rolling_back then
        select w.due_at into v_grace from pawl_data.wait w where w.run_id = p_task.run_id and w.name = 'grace' and w.kind::text = 'l';
        return format('Ending: cancelled %s ago. Worker %s has been notified and has %s left to release it.',
            pawl._ago(p_now - (p_task.ending ->> 'at')::timestamptz), p_worker.name,
            pawl._ago(coalesce(v_grace, p_now) - p_now));
    end if;
    select r ->> 'step' into v_step
    from json_array_elements(case when json_typeof(p_worker.running) = 'array' then p_worker.running else '[]' end) r
    -- guard:why_own_step
    where r ->> 'run' = p_task.run_id::text and coalesce((r ->> 'task')::int, 0) = p_task.task_no
    limit 1;
    return format('%1$s%3$s on worker %2$s (lease valid for %4$s)%5$s.',
        case when p_task.rolling_back then 'Rolling back' when p_task.started then 'Running' else 'Claimed, not started yet,' end,
        p_worker.name, coalesce(' step ' || v_step, ''), pawl._ago(p_worker.lease_until - p_now),
        case when p_task.paused is not null then '; pauses after this step' else '' end);
end
$$;
comment on function pawl._why_held(pawl_data.task, pawl_data.worker, pawl_data.queue, timestamptz) is 'the sentence for a run that a worker holds';

-- Returns the backoffs, delays and open waits of a run's tasks. The one that can wake the run first is first. Waits without a time come
-- last, in the order they were opened. At most 1,000 tasks and 1,000 waits are examined, and p_max rows are returned.
create or replace function pawl._open_waits(p_run uuid, p_task int, p_now timestamptz, p_max int)
returns table (task_no int, kind text, name text, due_at timestamptz, wait pawl_data.wait, try json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with task as materialized (
        select t.task_no, t.reason, t.due_at, t.retries
        from pawl_data.task t
        -- ::text makes the server use the index by run, not the index of all waiting tasks.
        where t.run_id = p_run and (p_task is null or t.task_no = p_task) and t.place::text = 'w' and t.due_at > p_now
        order by t.task_no
        limit 1000
    )
    select o.*
    from (
        select t.task_no, 'delay', null::text, t.due_at, null::pawl_data.wait, null::json
        from task t where t.reason = 'delay'
        union all
        select t.task_no, 'retry', e.key, (e.value ->> 'due')::timestamptz, null::pawl_data.wait, e.value
        from task t
        cross join lateral json_each(t.retries) e
        where (e.value ->> 'due')::timestamptz > p_now
        union all
        select w.task_no, pawl._kind_name(w.kind), w.name, w.due_at, w.wait, null::json
        from (
            select w.task_no, w.kind, w.name, w.due_at, w as wait
            from pawl_data.wait w
            where w.run_id = p_run and (p_task is null or w.task_no = p_task) and w.kind <> 'l'
            order by w.task_no, w.name
            limit 1000
        ) w
    ) o (task_no, kind, name, due_at, wait, try)
    order by o.due_at, o.task_no, (o.wait).seq, o.name
    limit p_max;
end
$$;
comment on function pawl._open_waits(uuid, int, timestamptz, int) is 'what a run waits for, the first to wake it first';

-- Describes one wait in a few words.
create or replace function pawl._wait_text(p_kind text, p_name text, p_due timestamptz, p_wait pawl_data.wait, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    -- The difference to infinity cannot be computed.
    v_left text := case when p_due < 'infinity' then pawl._ago(p_due - p_now) end;
    v_until text := coalesce(' (times out in ' || v_left || ')', '');
begin
    return case p_kind
        when 'delay' then format('start in %s', v_left)
        when 'retry' then format('retry%s in %s', case when p_name <> '' then ' of step ' || p_name else '' end, v_left)
        when 'sleep' then format('sleep %s (%s left)', p_name, v_left)
        when 'event' then format('event %s%s%s', p_wait.topic, case when p_wait.key <> '' then format(', key "%s"', p_wait.key) else '' end,
            v_until)
        when 'child' then format('child run %s', p_wait.child_id)
        else format('%s %s%s', p_kind, p_wait.topic, v_until) end;
end
$$;
comment on function pawl._wait_text(text, text, timestamptz, pawl_data.wait, timestamptz) is 'what is waited for, in a few words';

-- The waits of a run after the first p_skip, which its sentence names already: ten of them at most.
create or replace function pawl._also_waits(p_run uuid, p_now timestamptz, p_skip int)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select ' Also open: ' || string_agg(
                   case when o.n > p_skip + 10 then 'and more'
                        else case when o.task_no > 0 then format('step %s: ', pawl._shown_name(p_run, o.task_no, null)) else '' end
                             || pawl._wait_text(o.kind, o.name, o.due_at, o.wait, p_now) end, '; ' order by o.n) || '.'
        -- 1. A run opens 1,000 waits in 1,000 branches. 2. A reader asks why it waits. Without the bound the answer would name all of
        -- them. One more than are named is read, to tell that there are more.
        -- guard:why_bounded
        from pawl._open_waits(p_run, null, p_now, p_skip + 11) with ordinality o (task_no, kind, name, due_at, wait, try, n)
        where o.n > p_skip);
end
$$;
comment on function pawl._also_waits(uuid, timestamptz, int) is 'what else a run waits for';

create or replace function pawl._why_waiting(p_task pawl_data.task, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_first record;
    v_wait pawl_data.wait;
    v_grace timestamptz;
    v_until text;
    v_since text;
begin
    if p_task.ending is not null and not p_task.rolling_back then
        -- Its worker was lost after the cancel, and its parent could not be locked then. The end of the grace period tries again.
        select w.due_at into v_grace from pawl_data.wait w where w.run_id = p_task.run_id and w.name = 'grace' and w.kind::text = 'l';
        return format('Ending: cancelled %s ago. Its worker is gone. Ends when its grace period has passed (%s left) and no other transaction locks its parent run.',
            pawl._ago(p_now - (p_task.ending ->> 'at')::timestamptz), pawl._ago(coalesce(v_grace, p_now) - p_now));
    end if;
    select o.* into v_first from pawl._open_waits(p_task.run_id, p_task.task_no, p_now, 1) o;
    v_wait := v_first.wait;
    v_since := to_char(v_wait.created_at, 'YYYY-MM-DD HH24:MI:SS');
    v_until := case when v_wait.due_at < 'infinity' then format('; times out in %s', pawl._ago(v_wait.due_at - p_now)) else '' end;
    return case v_first.kind
        when 'delay' then format('Scheduled to start at %2$s (in %1$s).', pawl._ago(p_task.due_at - p_now),
            to_char(p_task.due_at, 'YYYY-MM-DD HH24:MI:SS'))
        when 'retry' then format('Attempt %s of %s%s starts in %s. Last error: "%s".', (v_first.try ->> 'n')::int + 1, v_first.try ->> 'of',
            case when v_first.name <> '' then ' of step ' || v_first.name else '' end, pawl._ago(v_first.due_at - p_now),
            left(coalesce(case when json_typeof(v_first.try -> 'error') = 'object' then v_first.try -> 'error' ->> 'message' end,
                          v_first.try ->> 'error'), 200))
        when 'sleep' then format('Sleeping in %s until %s (%s left).', v_wait.name,
            to_char(v_wait.due_at, 'YYYY-MM-DD HH24:MI:SS'), pawl._ago(v_wait.due_at - p_now))
        when 'event' then format('Waiting for event %s%s%s since %s%s. Emit it with pawl.emit().', v_wait.topic,
            case when v_wait.key <> '' then format(', key "%s",', v_wait.key) else '' end,
            coalesce(' with ' || (select string_agg(m.key || ' = ' || m.value, ' and ') from json_each(v_wait.match) m), ''), v_since, v_until)
        when 'signal' then format('Waiting for signal %s since %s%s. Send it with pawl.signal().', v_wait.topic, v_since, v_until)
        when 'child' then format('Waiting for child run %s (step %s) since %s.', v_wait.child_id, v_wait.name, v_since)
        when 'approval' then format('Waiting for approval %s since %s%s. Decide with pawl.approve() or pawl.reject().', v_wait.topic, v_since, v_until)
        else format('Waiting until %s.', to_char(p_task.due_at, 'YYYY-MM-DD HH24:MI:SS')) end;
end
$$;
comment on function pawl._why_waiting(pawl_data.task, timestamptz) is 'the sentence for a run that waits';

create or replace function pawl._tasks_ahead(p_ahead bigint)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_ahead = 0 then 'nothing is' when p_ahead = 1 then '1 task is'
                when p_ahead > 10000 then 'over 10000 tasks are' else p_ahead || ' tasks are' end;
end
$$;
comment on function pawl._tasks_ahead(bigint) is 'how many tasks are ahead, in words; over 10000 is not counted';

-- A run of a workflow with a limit by key: what is ahead of it in its lane, and what is held.
create or replace function pawl._why_in_lane(p_task pawl_data.task, p_queue pawl_data.queue, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_lane uuid := pawl._lane_of(p_task.tenant, p_task.limit_key);
    v_paused boolean := exists (
        select from pawl_data.lane_setting s where s.queue_id = p_task.queue_id and s.lane = v_lane and s.paused_at is not null);
    v_shut text := pawl._why_lane_shut(p_queue, v_lane, p_now);
    v_ahead bigint;
    -- How many lanes take turns. A reader that is bound to a tenant is not told how many keys others have.
    v_others bigint := case when pawl._bound_tenant(null) is null then (
        select count(*) from (select from pawl_data.lane l where l.queue_id = p_task.queue_id and l.state = 'r' and l.lane <> v_lane limit 10001) c) else 0 end;
    v_turns text := case when v_others > 0 then format('; its %s takes turns with %s', case when p_task.limit_key is null then 'tenant' else 'limit key' end,
        case when v_others > 10000 then 'over 10000 others' when v_others = 1 then '1 other' else v_others || ' others' end) else '' end;
begin
    -- guard:why_lane_paused
    if v_paused then
        return format('%s, but %s.', case when p_task.rolling_back then 'Rollback queued' else 'Queued' end, v_shut);
    end if;
    select count(*) into v_ahead
    from (
        select from pawl_data.lane_task w
        where w.queue_id = p_task.queue_id and w.lane = v_lane
          and (w.priority, w.due_at, w.run_id, w.task_no) < (p_task.priority, p_task.due_at, p_task.run_id, p_task.task_no)
        limit 10001
    ) c;
    return format('%s for %s: %s ahead of it %s%s.', case when p_task.rolling_back then 'Rollback queued' else 'Queued' end,
        pawl._ago(p_now - p_task.due_at), pawl._tasks_ahead(v_ahead),
        case when p_task.limit_key is null then 'without a limit key' else format('with limit key "%s"', left(p_task.limit_key, 200)) end,
        coalesce(', and ' || v_shut, format(' in queue %s%s. Live workers handle the queue', p_queue.name, v_turns)));
end
$$;
comment on function pawl._why_in_lane(pawl_data.task, pawl_data.queue, timestamptz) is 'the sentence for a run that waits in its lane';

-- Returns the end of a sentence that says which worker is missing for a task, or null if one that takes runs may take it.
create or replace function pawl._why_no_worker(p_task pawl_data.task, p_queue pawl_data.queue, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_last pawl_data.worker;
    v_live boolean;
    -- The handler, as a worker must offer it.
    v_handler text := p_queue.name || coalesce(' with runtime ' || (
        select w.runtime from pawl_data.workflow w where w.workflow_id = p_queue.workflow_id), '')
        || case when p_task.tenant <> '' and (select s.tenants_bound from pawl_data.setting s where s.only_row) then format(' for tenant "%s"', p_task.tenant) else '' end;
begin
    -- Among the workers that may take the run: one that is live and not draining, or else the one with the latest lease.
    select w.* into v_last
    from pawl_data.worker w
    -- guard:why_tenant
    where p_queue.queue_id = any (w.queue_ids) and (w.tenant is null or w.tenant = p_task.tenant)
    order by not w.draining and pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now) desc, w.lease_until desc limit 1;
    if not found then
        return format('no worker has ever registered a handler for %s. Start one.', v_handler);
    end if;
    v_live := pawl._is_live(v_last.session_id, v_last.ended_at, v_last.lease_until, p_now);
    -- guard:why_draining
    if v_live and not v_last.draining then
        return null;
    end if;
    return format('the last worker for %s, %s, %s. Start one.', v_handler, v_last.name,
        case when v_live then 'is draining'
             else format('was last seen %s ago', pawl._ago(p_now - pawl._shift(v_last.lease_until, - v_last.lease))) end);
end
$$;
comment on function pawl._why_no_worker(pawl_data.task, pawl_data.queue, timestamptz) is 'which worker is missing for a task, or null';

create or replace function pawl._why_queued(p_task pawl_data.task, p_queue pawl_data.queue, p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_pause pawl_data.pause;
    v_none text;
    v_ahead bigint;
    v_all boolean := pawl._bound_tenant(null) is null;
    v_what text := case when p_task.rolling_back then 'Rollback queued, but ' else 'Queued, but ' end;
    v_all_paused text := pawl._all_paused_text();
begin
    -- guard:why_all_paused
    if v_all_paused is not null then
        return format('%s%s. Resume everything with pawl.resume_all().', v_what, v_all_paused);
    end if;
    select p.* into v_pause
    from pawl_data.pause p
    where p.subject = 'queue' and p.name = p_queue.name
       or p.subject = 'workflow' and p.name = (select w.name from pawl_data.workflow w where w.workflow_id = p_queue.workflow_id)
    order by p.paused_at limit 1;
    if found then
        return format('%1$s%4$s paused %2$s %3$s at %5$s%6$s. Resume it with pawl.resume_%7$s().', v_what, v_pause.subject, v_pause.name,
            v_pause.paused_by, to_char(v_pause.paused_at, 'YYYY-MM-DD HH24:MI:SS'), coalesce(': ' || left(v_pause.why, 200), ''),
            v_pause.subject);
    end if;
    v_none := pawl._why_no_worker(p_task, p_queue, p_now);
    if v_none is not null then
        return v_what || v_none;
    end if;
    if p_task.place = 's' then
        return format('%ssuspect: %s workers lost their lease while running it. It waits for a worker with no other run.', v_what,
            p_task.crashes);
    end if;
    if p_task.place = 'w' and pawl._keeper_missing(p_now) then
        return format('Due for %s, but only housekeeping makes it ready. %s.', pawl._ago(p_now - p_task.due_at), pawl._keeper_cure());
    end if;
    -- guard:why_lane
    if p_task.place in ('r', 'l') and exists (select from pawl_data.lane_queue l where l.queue_id = p_task.queue_id) then
        return pawl._why_in_lane(p_task, p_queue, p_now);
    end if;
    -- guard:why_ahead_tenant
    select count(*) filter (where v_all or c.tenant = p_task.tenant) into v_ahead
    from (
        select t.tenant from pawl_data.task t
        where t.place = 'r' and t.queue_id = p_task.queue_id
          and (t.priority < p_task.priority or t.priority = p_task.priority and t.due_at < p_task.due_at)
        limit 10001
    ) c;
    return format('%s for %s: %s ahead of it in queue %s. Live workers handle the queue.',
        case when p_task.rolling_back then 'Rollback queued' else 'Queued' end, pawl._ago(p_now - p_task.due_at),
        pawl._tasks_ahead(v_ahead), p_queue.name);
end
$$;
comment on function pawl._why_queued(pawl_data.task, pawl_data.queue, timestamptz) is 'the sentence for a run that is due';
