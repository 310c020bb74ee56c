-- SPDX-License-Identifier: Apache-2.0
-- Waiting, from the side of the run: sleep, event, signal, approval, child.

-- Locks the row of a topic and key for a wait. An emit and a wait both change this row before they look for each other. A wait never waits
-- for a lock: the function returns false if another transaction holds the row.
create or replace function pawl._meet(p_tenant text, p_topic text, p_key text, p_path_set text, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:meet_lock
    perform from pawl_data.topic o
    where o.tenant = p_tenant and o.topic = p_topic and o.key = p_key
    for update skip locked;
    if found then
        -- guard:meet_update
        update pawl_data.topic o
        set beat = o.beat + 1, touched_at = p_now,
            path_sets = case when p_path_set = any (o.path_sets) then o.path_sets else o.path_sets || p_path_set end
        where o.tenant = p_tenant and o.topic = p_topic and o.key = p_key
          -- Once for each transaction: a thousand waits in one commit would leave a thousand dead versions.
          and (o.xmin <> pg_current_xact_id()::xid or p_path_set <> all (o.path_sets));
        return true;
    end if;
    if exists (select from pawl_data.topic o where o.tenant = p_tenant and o.topic = p_topic and o.key = p_key) then
        return false;
    end if;
    -- The key of the row decides which transaction makes it. An insert cannot skip another insert of the same key, but would wait for it.
    -- So this transaction inserts only if no other one has given the hint that it makes the row.
    return pawl._hint_topic(p_tenant, p_topic, p_key) and pawl._make_topic(p_tenant, p_topic, p_key, p_path_set, p_now);
end
$$;
comment on function pawl._meet(text, text, text, text, timestamptz) is 'a wait locks the row of its topic and key';

-- Gives other transactions the hint that this one makes the row of a topic. Returns false if another transaction has given it. Any login
-- may take any advisory lock, so the number of this one is made with a secret that only the owner reads.
create or replace function pawl._hint_topic(p_tenant text, p_topic text, p_key text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:topic_secret
    return pg_try_advisory_xact_lock(('x' || left(encode(sha256(convert_to(
        (select s.lock_secret::text from pawl_data.setting s where s.only_row) || chr(1) || p_tenant || chr(1) || p_topic || chr(1) || p_key,
        'UTF8')), 'hex'), 16))::bit(64)::bigint);
end
$$;
comment on function pawl._hint_topic(text, text, text) is 'says to others that the row of a topic is being made';

-- Makes the row of a topic for a wait. Another transaction may be making it although it could not give the hint. The wait for that
-- transaction is bounded: the call fails after 50 ms, and is sent again.
create or replace function pawl._make_topic(p_tenant text, p_topic text, p_key text, p_path_set text, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set lock_timeout to '50ms'
as $$
declare
    v_made int;
begin
    insert into pawl_data.topic (tenant, topic, key, touched_at, path_sets)
    values (p_tenant, p_topic, p_key, p_now, array[p_path_set])
    on conflict on constraint topic_pkey do nothing;
    get diagnostics v_made = row_count;
    return v_made = 1;
end
$$;
comment on function pawl._make_topic(text, text, text, text, timestamptz) is 'makes the row of a topic for a wait';

-- The earliest event since the run was triggered that matches and that this run has not taken.
create or replace function pawl._find_event(
    p_task pawl_data.task, p_topic text, p_key text, p_match json, p_now timestamptz)
returns pawl_data.event
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_event pawl_data.event;
    v_paths text := pawl._path_set(p_match);
    v_digest bytea := pawl._match_digest(p_match);
    v_taken uuid[];
    v_from timestamptz := greatest(p_task.triggered_at,
        pawl._shift(p_now, (select - s.event_retention from pawl_data.setting s where s.only_row)));
    -- An id that a client made may be an hour off the time it was emitted at.
    v_floor uuid := pawl._id_floor(v_from - interval '1 hour');
    v_end uuid := pawl._id_floor(greatest(p_now, (
        select o.emitted_at from pawl_data.topic o
        where o.tenant = p_task.tenant and o.topic = p_topic and o.key = p_key)) + interval '61 min');
begin
    select e.* into v_event
    from pawl_data.event e
    where e.tenant = p_task.tenant and e.topic = p_topic and e.key = p_key and e.event_id >= v_floor and e.event_id < v_end
      and e.emitted_at >= v_from
      and (v_paths = '' or pawl._digest(v_paths, pawl._comparable(e.payload)) = v_digest)
    -- By the time, because ids that clients made follow their clocks.
    order by e.emitted_at, e.event_id
    limit 1;
    -- The records are read only now: a run may have very many, and most waits open before their event.
    if v_event.event_id is not null then
        v_taken := array(
            select s.source_id from pawl._steps(array[p_task.run_id]) s where s.kind = 'e' and s.source_id is not null);
        -- guard:find_not_taken
        if v_event.event_id = any (v_taken) then
            select e.* into v_event
            from pawl_data.event e
            where e.tenant = p_task.tenant and e.topic = p_topic and e.key = p_key and e.event_id >= v_floor and e.event_id < v_end
              and (e.emitted_at, e.event_id) > (v_event.emitted_at, v_event.event_id)
              and e.event_id <> all (v_taken)
              and (v_paths = '' or pawl._digest(v_paths, pawl._comparable(e.payload)) = v_digest)
            order by e.emitted_at, e.event_id
            limit 1;
        end if;
    end if;
    return v_event;
end
$$;
comment on function pawl._find_event(pawl_data.task, text, text, json, timestamptz) is 'an event that came before the wait for it';

-- Finds an event like _find_event(), for a wait that takes it. 1. B delivers an event that very many runs wait for, perhaps to another task
-- of the same flow. 2. A, this wait, finds the event, and cannot see before B's commit that the run has it. 3. So A locks the row of the
-- delivery and looks again. Without that the run could take the event twice. A never waits for a lock: is_busy means that another
-- transaction holds the row.
create or replace function pawl._look_back(
    p_task pawl_data.task, p_topic text, p_key text, p_match json, p_now timestamptz,
    out event_id uuid, out emitted_at timestamptz, out payload json, out is_busy boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_event pawl_data.event;
begin
    is_busy := false;
    -- Most waits come before their event. The row of the topic tells that there is none, and its plan is made once; the search among events
    -- is planned at each call, so that it opens only the days that it needs.
    if not exists (
        select from pawl_data.topic o
        where o.tenant = p_task.tenant and o.topic = p_topic and o.key = p_key
          and o.emitted_at >= p_task.triggered_at) then
        return;
    end if;
    loop
        v_event := pawl._find_event(p_task, p_topic, p_key, p_match, p_now);
        -- guard:wait_meets_delivery
        exit when v_event.event_id is null or p_task.task_no = 0 or v_event.event_id = _look_back.event_id;
        event_id := v_event.event_id;
        perform from pawl_data.delivery d where d.event_id = v_event.event_id for update skip locked;
        is_busy := not found and exists (select from pawl_data.delivery d where d.event_id = v_event.event_id);
        exit when is_busy;
    end loop;
    event_id := v_event.event_id;
    emitted_at := v_event.emitted_at;
    payload := v_event.payload;
end
$$;
comment on function pawl._look_back(pawl_data.task, text, text, json, timestamptz) is 'an event for a wait to take, unless it is being delivered';

create or replace function pawl._open_wait(
    p_task pawl_data.task, p_now timestamptz, p_name text, p_kind "char", p_seq int, p_due timestamptz, p_topic text default null,
    p_key text default null, p_match json default null, p_form json default null, p_child uuid default null)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, match, form, child_id,
                           created_at, due_at)
    values (p_task.run_id, p_task.task_no, p_name, p_kind, coalesce(p_seq, pawl._next_seq(p_task)), p_task.tenant, p_topic,
            p_key, case when p_kind = 'e' then pawl._match_digest(p_match) end, p_match, p_form, p_child, p_now, p_due);
    update pawl_data.task t set attached = true, recorded = true, crashes = 0
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no
      -- 1. A opens this wait for a signal. 2. B, above read committed and with a snapshot from before A's commit, sends the signal and
      -- changes the same row. 3. B fails with 40001, because A has changed the row. If A had only locked it, B would not see the wait and
      -- would store the signal, and the run would keep waiting.
      -- guard:wait_changes_run
      and (p_kind in ('g', 'a') or not (t.attached and t.recorded and t.crashes = 0));
    if p_task.task_no > 0 and p_kind in ('g', 'a') then
        -- A sender changes task 0, so a wait of another task changes task 0 as well.
        -- guard:wait_changes_flow
        update pawl_data.task t set attached = true where t.run_id = p_task.run_id and t.task_no = 0;
    end if;
end
$$;
comment on function pawl._open_wait(pawl_data.task, timestamptz, text, "char", int, timestamptz, text, text, json, json, uuid) is 'writes an open wait';

-- p_unrecorded: the caller has looked already, under the lock of the task, and found no record of that name.
create or replace function pawl._commit_wait(
    p_task pawl_data.task, p_now timestamptz, p_kind text, p_name text, p_payload text, p_seq int, p_option json,
    p_unrecorded boolean, out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_kind "char" := pawl._kind_code(p_kind);
    v_old pawl_data.step;
    v_open pawl_data.wait;
    v_due timestamptz := p_now + pawl._millis(p_option ->> 'timeout_ms', null);
begin
    if not p_unrecorded then
        select s.* into v_old
        from pawl._step(p_task.run_id, p_task.task_no, p_name) s
        where s.state <> 'e' or s.round = p_task.round
        order by s.round desc limit 1;
    end if;
    select w.* into v_open
    from pawl_data.wait w where w.run_id = p_task.run_id and w.task_no = p_task.task_no and w.name = p_name;
    if coalesce(v_old.kind, v_open.kind, v_kind) <> v_kind then
        perform pawl._pause_for_drift(p_task, p_now, p_name, pawl._kind_name(coalesce(v_old.kind, v_open.kind)), p_kind);
        answer := 'refused';
        reason := 'drift';
        return;
    end if;
    answer := 'already';
    if v_old.run_id is not null then
        value := json_build_object('state', pawl._state_name(v_old.state), 'output', v_old.output, 'error', v_old.error);
        return;
    end if;
    if v_open.run_id is not null then
        value := json_build_object('state', 'PAUSED', 'child', v_open.child_id);
        return;
    end if;
    answer := 'ok';
    value := json_build_object('state', 'PAUSED');
    if p_kind = 'sleep' then
        perform pawl._open_wait(p_task, p_now, p_name, 'z', p_seq, p_now + pawl._millis(p_option ->> 'ms', '0'));
    elsif p_kind = 'event' then
        select e.answer, e.reason, e.value into answer, reason, value
        from pawl._wait_event(p_task, p_now, p_name, p_seq, p_option, coalesce(v_due, 'infinity')) e;
    elsif p_kind = 'child' then
        select c.answer, c.reason, c.value into answer, reason, value
        from pawl._start_child(p_task, p_now, p_name, p_seq, p_payload, p_option) c;
    elsif p_option ->> 'signal' !~ '^[a-z0-9_.-]{1,100}$' then
        answer := 'refused';
        reason := format('bad signal name "%s": it must have 1 to 100 of a-z, 0-9, _, . and -', left(p_option ->> 'signal', 300));
        value := null;
    else
        value := pawl._wait_signal(p_task, p_now, p_name, v_kind, p_seq, p_option, coalesce(v_due, 'infinity'));
        if value is null then
            answer := 'busy';
            reason := 'another transaction holds the run';
        end if;
    end if;
end
$$;
comment on function pawl._commit_wait(pawl_data.task, timestamptz, text, text, text, int, json, boolean) is 'commits an item that waits for something';

create or replace function pawl._wait_event(
    p_task pawl_data.task, p_now timestamptz, p_name text, p_seq int, p_option json, p_due timestamptz,
    out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_topic text := p_option ->> 'topic';
    v_key text := coalesce(p_option ->> 'key', '');
    v_match json := case when json_typeof(p_option -> 'match') <> 'null' then p_option -> 'match' end;
    v_event record;
begin
    reason := case when v_topic is null or length(v_topic) not between 1 and 200 then 'a wait for an event needs a topic of 1 to 200 characters'
                   when length(v_key) > 500 then 'key has more than 500 characters'
                   else pawl._match_problem(v_match) end;
    if reason is null and exists (
        select from pawl_data.topic o
        where o.tenant = p_task.tenant and o.topic = v_topic and o.key = v_key and cardinality(o.path_sets) >= 64
          and pawl._path_set(v_match) <> all (o.path_sets)) then
        reason := 'waits on this topic and key match on more than 64 different sets of paths';
    end if;
    if reason is not null then
        answer := 'refused';
        return;
    end if;
    if not pawl._meet(p_task.tenant, v_topic, v_key, pawl._path_set(v_match), p_now) then
        answer := 'busy';
        reason := 'another transaction emits on this topic and key';
        return;
    end if;
    answer := 'ok';
    -- 1. A (this wait) has locked the row of the topic; B is an emit on the same topic and key. 2. If B committed before A got the lock,
    -- this statement sees B's event, because it takes a new snapshot. 3. If B comes later, it waits for A's lock and then sees A's wait.
    -- With a snapshot older than the lock, A could miss the event and B the wait, and the run would wait forever.
    -- guard:wait_looks_back
    v_event := pawl._look_back(p_task, v_topic, v_key, v_match, p_now);
    if v_event.is_busy then
        answer := 'busy';
        reason := 'another transaction delivers this event';
        return;
    end if;
    if v_event.event_id is not null then
        perform pawl._record(p_task, p_name, 'e', 's', p_seq, v_event.payload, null, p_now, 0, 1, null, v_event.event_id);
        perform pawl._note_progress(p_task, p_name);
        value := json_build_object('state', 'SUCCESS', 'output', v_event.payload);
        return;
    end if;
    perform pawl._open_wait(p_task, p_now, p_name, 'e', p_seq, p_due, v_topic, v_key, v_match);
    value := json_build_object('state', 'PAUSED');
end
$$;
comment on function pawl._wait_event(pawl_data.task, timestamptz, text, int, json, timestamptz) is 'takes an event, or waits for one';

-- Takes a stored signal, or opens a wait for one. The run and the senders of its signals both lock the row of task 0. Returns null if
-- another transaction holds that row.
create or replace function pawl._wait_signal(
    p_task pawl_data.task, p_now timestamptz, p_name text, p_kind "char", p_seq int, p_option json, p_due timestamptz)
returns json
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- The name of an undo begins with a prefix that no name of a signal may have; it is cut off.
    v_signal text := coalesce(p_option ->> 'signal', regexp_replace(p_name, '^.*[/:]|#[0-9]+$', '', 'g'));
    -- No signal can have a name with this prefix, so an approval takes only a decision.
    v_kept text := case when p_kind = 'a' then 'approval:' else '' end || v_signal;
    v_payload json;
begin
    -- 1. A, a task of a flow, looks for a stored signal and opens a wait. 2. B sends the signal: it locks task 0, finds no wait and stores
    -- the signal. Without a lock of task 0, A and B could miss each other, and the run would wait for a signal that it has.
    -- guard:signal_meets_flow
    if p_task.task_no > 0 then
        perform from pawl_data.task t where t.run_id = p_task.run_id and t.task_no = 0 for update skip locked;
        if not found then
            return null;
        end if;
    end if;
    delete from pawl_data.signal g
    where g.run_id = p_task.run_id and g.name = v_kept
      and g.signal_no = (select min(m.signal_no) from pawl_data.signal m where m.run_id = p_task.run_id and m.name = v_kept)
    returning g.payload into v_payload;
    if found then
        perform pawl._record(p_task, p_name, p_kind, 's', p_seq, v_payload, null, p_now);
        perform pawl._note_progress(p_task, p_name);
        return json_build_object('state', 'SUCCESS', 'output', v_payload);
    end if;
    perform pawl._open_wait(p_task, p_now, p_name, p_kind, p_seq, p_due, v_signal, null, null, p_option -> 'form');
    return json_build_object('state', 'PAUSED');
end
$$;
comment on function pawl._wait_signal(pawl_data.task, timestamptz, text, "char", int, json, timestamptz) is 'takes a signal, or waits for one';

create or replace function pawl._start_child(
    p_task pawl_data.task, p_now timestamptz, p_name text, p_seq int, p_payload text, p_option json,
    out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow;
    v_detached boolean := coalesce((p_option ->> 'detached')::boolean, false);
    v_child uuid;
begin
    select w.* into v_workflow from pawl_data.workflow w where w.name = p_option ->> 'workflow';
    if not found then
        answer := 'refused';
        reason := format('unknown workflow "%s"', p_option ->> 'workflow');
        return;
    end if;
    -- A worker must not choose the command either that another worker executes.
    -- guard:crontab_child
    if starts_with(v_workflow.name, 'crontab.') then
        answer := 'refused';
        reason := format('runs of workflow "%s" are triggered by schedules alone', v_workflow.name);
        return;
    end if;
    -- A flow without steps is refused, as by trigger().
    -- guard:empty_child_flow
    if v_workflow.flow and not exists (
        select from pawl_data.flow_step s where s.workflow_id = v_workflow.workflow_id and s.step_no > 0) then
        answer := 'refused';
        reason := format('flow "%s" has no steps', v_workflow.name);
        return;
    end if;
    if (p_option ->> 'priority')::int not between 0 and 32767
       or pawl._millis(p_option ->> 'delay_ms', null) > interval '10 years' or length(p_option ->> 'limit_key') > 500 then
        answer := 'refused';
        reason := 'priority must be between 0 and 32767, delay_ms at most ten years, limit_key at most 500 characters';
        return;
    end if;
    v_child := pawl._id_make(p_now, pawl._id_slot(p_task.run_id));
    if not v_detached then
        -- The wait comes before the child: a flow with nothing to do ends as it is started, and completes the wait.
        perform pawl._open_wait(p_task, p_now, p_name, 'c', p_seq, 'infinity', null, null, null, null, v_child);
    end if;
    perform pawl._insert_run(p_now, v_workflow.queue_id, v_workflow.run_timeout, v_workflow.expires, case when v_workflow.flow then v_workflow.workflow_id end,
        v_child, false, coalesce(p_payload, '{}')::json, p_task.tenant,
        coalesce((p_option ->> 'priority')::int, v_workflow.priority), pawl._millis(p_option ->> 'delay_ms', null), p_option -> 'metadata', null,
        p_option ->> 'limit_key', p_task.run_id, case when v_detached then null else p_name end, nullif(p_task.task_no, 0), false);
    answer := 'ok';
    if v_detached then
        perform pawl._record(p_task, p_name, 'c', 's', p_seq, json_build_object('run_id', v_child), null, p_now, 0, 1, null, v_child);
        perform pawl._note_progress(p_task, p_name);
        value := json_build_object('state', 'SUCCESS', 'output', json_build_object('run_id', v_child));
    else
        value := json_build_object('state', 'PAUSED', 'child', v_child);
        if v_workflow.flow then
            value := coalesce((
                select json_build_object('state', pawl._state_name(s.state), 'output', s.output, 'error', s.error)
                from pawl._step(p_task.run_id, p_task.task_no, p_name) s where s.source_id = v_child), value);
        end if;
    end if;
    perform pawl._wake_one(v_workflow.queue_id, p_task.tenant, p_now);
end
$$;
comment on function pawl._start_child(pawl_data.task, timestamptz, text, int, text, json) is 'starts a child run, to be waited for or not';

-- Ends the waits of claimed tasks whose time has passed: a sleep succeeds, any other wait times out.
create or replace function pawl._settle_due(p_ids uuid[], p_tasks int[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_wait pawl_data.wait;
    v_task pawl_data.task;
    v_event record;
begin
    for v_wait in
        select w.*
        from unnest(p_ids, p_tasks) i (run_id, task_no)
        cross join lateral (
            select w.*
            from pawl_data.wait w
            where w.run_id = i.run_id and w.task_no = i.task_no and w.kind <> 'l' and w.due_at <= p_now
            -- A wait whose row an emit has locked is skipped: the emit has matched it, and completes it.
            for update skip locked
        ) w
    loop
        select t.* into v_task from pawl_data.task t where t.run_id = v_wait.run_id and t.task_no = v_wait.task_no;
        if v_wait.kind = 'e' then
            -- 1. An event has so many waits that it is still being delivered. 2. One of these waits reaches its time limit. Without this
            -- test it would time out, although its event came in time.
            -- guard:timeout_looks_back
            v_event := pawl._look_back(v_task, v_wait.topic, v_wait.key, v_wait.match, p_now);
            if v_event.emitted_at <= v_wait.due_at then
                -- Another transaction delivers the event at this moment: the wait stays open, and is checked again.
                -- guard:timeout_meets_delivery
                continue when v_event.is_busy;
                delete from pawl_data.wait w where w.run_id = v_wait.run_id and w.task_no = v_wait.task_no and w.name = v_wait.name;
                perform pawl._record(v_task, v_wait.name, 'e', 's', v_wait.seq, v_event.payload, null, p_now,
                    (1000 * date_part('epoch', p_now - v_wait.created_at))::bigint, 1, null, v_event.event_id);
                continue;
            end if;
        end if;
        delete from pawl_data.wait w where w.run_id = v_wait.run_id and w.task_no = v_wait.task_no and w.name = v_wait.name;
        perform pawl._record(v_task, v_wait.name, v_wait.kind, case when v_wait.kind = 'z' then 's'::"char" else 'e' end, v_wait.seq, null,
            case when v_wait.kind <> 'z' then json_build_object('code', 'timeout', 'message', 'the wait timed out') end, p_now,
            (1000 * date_part('epoch', p_now - v_wait.created_at))::bigint);
    end loop;
end
$$;
comment on function pawl._settle_due(uuid[], int[], timestamptz) is 'ends the waits of claimed tasks whose time is over';
