-- SPDX-License-Identifier: Apache-2.0
-- Claiming: a session takes due tasks of the queues it handles. Bounded, never waits for a lock.
--
-- Promises, and the tests that hold them:
--   it never waits for a row lock      tests/sql/claim/what_another_transaction_holds_makes_neither_claim_nor_sweep_nor_heartbeat_wait
--   a task has one holder              tests/isolation/specs/two_claimers, tests/race/claimers
--   the older holder can write nothing tests/sql/claim/a_claim_raises_the_fence_and_the_older_holder_can_write_nothing
--   an ended session gets nothing      tests/sql/claim/a_session_that_ends_during_its_claim_gets_nothing
--   nor does one of an older epoch     tests/isolation/specs/raise_epoch_against_work
--   a lost reply is given again        tests/sql/claim/a_repeated_claim_with_the_same_request_number_gets_the_same_tasks
--   queues take turns                  tests/sql/claim/queues_take_turns
--   what it returns is bounded         tests/sql/claim/a_claim_hands_out_a_bounded_amount_of_records, of_inputs, of_metadata
--   no limit is exceeded               tests/isolation/specs/lane_claimers, tests/race/lanes
--   a broken run stops no queue        tests/sql/housekeeping/a_detached_partition_stops_only_the_runs_of_its_day

create or replace function pawl._claim_max()
returns bigint
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return 67108864;
end
$$;
comment on function pawl._claim_max() is 'bytes of records, of inputs, and of metadata, that one claim hands out';

-- Returns the picked tasks (locked) of coded runs that this claim leaves for the next one, because the inputs up to them exceed p_max
-- bytes. The first input is never left. Inputs in the row of a task are small and do not count.
create or replace function pawl._over_input(p_tids tid[], p_max bigint)
returns text[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
set plan_cache_mode to force_custom_plan
as $$
declare
    v_ids uuid[] := array(select t.run_id from pawl_data.task t where t.ctid = any (p_tids) and t.task_no = 0 and t.input_apart);
begin
    return array(
        select f.run_id || ' 0'
        from (
            select t.run_id, i.bytes, sum(i.bytes) over (order by t.priority, t.due_at, t.run_id) as total
            from (
                select i.run_id, octet_length(i.input::text) as bytes from pawl_data.input i where i.run_id = any (v_ids)
                union all
                select k.run_id, octet_length(k.input::text) from pawl_data.input_kept k where k.run_id = any (v_ids)
            ) i
            join pawl_data.task t on t.run_id = i.run_id and t.task_no = 0
        ) f
        -- guard:claim_large_inputs
        where f.total > p_max and f.total > f.bytes);
end
$$;
comment on function pawl._over_input(tid[], bigint) is 'coded runs whose inputs exceed the limit of one claim';

-- The same for metadata, whose size is known without reading it.
create or replace function pawl._over_metadata(p_tids tid[], p_max bigint)
returns text[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    return array(
        select f.run_id || ' ' || f.task_no
        from (
            select t.run_id, t.task_no, octet_length(t.metadata::text) as bytes,
                   sum(octet_length(t.metadata::text)) over (order by t.priority, t.due_at, t.run_id, t.task_no) as total
            from pawl_data.task t
            where t.ctid = any (p_tids) and t.metadata is not null
        ) f
        -- guard:claim_metadata
        where f.total > p_max and f.total > f.bytes);
end
$$;
comment on function pawl._over_metadata(tid[], bigint) is 'tasks whose metadata exceeds the limit of one claim';

-- Returns the picked tasks (locked) without the tasks that this claim does not return. Tasks in p_left_out stay ready for the next claim.
-- Tasks in p_too_large end, because no claim can return their records, and a rollback would need these, too.
create or replace function pawl._leave_out_tasks(p_all tid[], p_left_out text[], p_too_large text[], p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_task pawl_data.task;
    v_error json := json_build_object('code', 'record_too_large', 'message',
        format('the run has recorded more than %s MB, which no worker can be given: let steps return less and keep large '
               'results elsewhere, or go on in a new run before it is so much', pawl._record_max() / 1048576));
    v_undone json;
begin
    for v_task in
        select t.* from pawl_data.task t where t.ctid = any (p_all) and t.run_id || ' ' || t.task_no = any (p_too_large)
    loop
        if v_task.task_no > 0 then
            -- 1. This claim has picked tasks 1 and 2 of a flow, and the records of both are too large. 2. The failure of task 1 ends the
            -- flow and removes task 2. Without the second test task 2 would be finished although it is gone. If another transaction holds
            -- task 0, it does so for a moment only, and a later claim ends the task.
            -- guard:large_once
            if pawl._lock_flow(v_task.run_id) and exists (
                select from pawl_data.task t where t.run_id = v_task.run_id and t.task_no = v_task.task_no) then
                perform pawl._finish_task((select r from pawl_data.task r where r.run_id = v_task.run_id and r.task_no = 0),
                    v_task.task_no, 'e', null, v_error, p_now, v_task.execution, v_task.fence, v_task.started_at);
            end if;
            continue;
        end if;
        v_undone := pawl._undone(v_task);
        -- If another transaction holds its parent, the run stays ready, and the next claim tries again.
        perform pawl._end_run(v_task, 'e', null,
            case when json_array_length(v_undone) = 0 then v_error
                 else json_build_object('code', 'rollback_failed', 'error', v_error,
                          'cause', coalesce(v_task.ending -> 'error', v_error),
                          'status', coalesce(v_task.ending ->> 'status', 'ERROR'), 'not_undone', v_undone) end, p_now);
        -- Wake a worker for the tasks after it in the queue: this claim may return nothing, and its worker then sleeps.
        perform pawl._wake_one(v_task.queue_id, v_task.tenant, p_now);
    end loop;
    return array(
        select t.ctid
        from pawl_data.task t
        where t.ctid = any (p_all)
          and t.run_id || ' ' || t.task_no <> all (coalesce(p_left_out, '{}') || coalesce(p_too_large, '{}')));
end
$$;
comment on function pawl._leave_out_tasks(tid[], text[], text[], timestamptz) is 'takes out of a claim what it cannot hand out';

-- Returns the picked tasks (locked) without tasks of flows that are ending, where nothing new starts. Such a task is left over: when the
-- flow began to end, a claim had locked it, and then did not take it. It is removed now.
create or replace function pawl._without_ending(p_all tid[], p_now timestamptz)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_run pawl_data.task;
    v_ending uuid[] := array(
        select distinct t.run_id
        from pawl_data.task t
        cross join lateral (
            select from pawl_data.task z where z.run_id = t.run_id and z.task_no = 0 and z.ending is not null offset 0
        ) z
        where t.ctid = any (p_all) and t.task_no > 0);
begin
    if cardinality(v_ending) = 0 then
        return p_all;
    end if;
    p_all := array(select t.ctid from pawl_data.task t where t.ctid = any (p_all) and (t.task_no = 0 or t.run_id <> all (v_ending)));
    for v_run in select t.* from pawl_data.task t where t.run_id = any (v_ending) and t.task_no = 0 loop
        if pawl._lock_flow(v_run.run_id) then
            perform pawl._let_end(v_run, p_now);
        end if;
    end loop;
    return p_all;
end
$$;
comment on function pawl._without_ending(tid[], timestamptz) is 'takes tasks of flows that are to end out of a claim';

-- Loads each of the picked tasks (locked) alone. A task that fails waits for a minute. Wakes a worker for the queue of each task.
create or replace function pawl._defer_broken(p_all tid[], p_now timestamptz, p_error text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_task pawl_data.task;
    v_found boolean := false;
begin
    for v_task in select t.* from pawl_data.task t where t.ctid = any (p_all) loop
        begin
            perform pawl._settle_due(array[v_task.run_id], array[v_task.task_no], pawl.now());
            perform from pawl._load_records(array[v_task.run_id], array[v_task.task_no], pawl._claim_max());
            perform from pawl._flow_inputs(array(select t.ctid from pawl_data.task t where t.run_id = v_task.run_id and t.task_no = v_task.task_no and t.task_no > 0), pawl._claim_max());
        exception
            when others then
                perform pawl._note_failure('claims', p_now, format('run %s: %s %s', v_task.run_id, sqlstate, sqlerrm));
                perform pawl._leave_lane(v_task, p_now, false);
                update pawl_data.task t
                set place = 'w', due_at = p_now + interval '1 min', reason = 'delay'
                where t.run_id = v_task.run_id and t.task_no = v_task.task_no;
                v_found := true;
        end;
        perform pawl._wake_one(v_task.queue_id, v_task.tenant, p_now);
    end loop;
    -- No task failed alone. The error came from elsewhere, such as the end of a flow whose history is gone. So the first task is deferred,
    -- and each further claim defers another, until the queue moves again.
    if not v_found then
        select t.* into v_task from pawl_data.task t where t.ctid = any (p_all) order by t.priority, t.due_at, t.run_id, t.task_no limit 1;
        perform pawl._note_failure('claims', p_now, format('run %s: %s', v_task.run_id, p_error));
        perform pawl._leave_lane(v_task, p_now, false);
        update pawl_data.task t
        set place = 'w', due_at = p_now + interval '1 min', reason = 'delay'
        where t.run_id = v_task.run_id and t.task_no = v_task.task_no;
    end if;
end
$$;
comment on function pawl._defer_broken(tid[], timestamptz, text) is 'defers tasks that no claim can return';

-- Loads the values that a claim returns with the tasks that it has picked and locked. These are records of runs that ran before, inputs of
-- flows, and which runs have a time limit. p_expires: runs that no worker has claimed may have expired. picked: the tasks that are left to be claimed.
create or replace function pawl._load_picked(
    p_picked tid[], p_ids uuid[], p_tasks int[], p_flow boolean, p_apart boolean, p_expires boolean, p_now timestamptz, out picked tid[],
    out records json[], out keys text[], out flow_keys text[], out flow_inputs json[], out limited uuid[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_left_out text[];
    v_too_large text[];
begin
    picked := p_picked;
    -- 1. A run has a record that cannot be read, or an operator removed its partition by hand. 2. Each claim of its queue picks the run
    -- first, and fails. Without the handler no task of the queue could be claimed. So this claim defers the run and records the failure,
    -- which doctor() shows. Later claims take the other tasks of the queue.
    -- guard:claim_broken_run
    begin
        if p_expires then
            -- guard:claim_expired
            picked := pawl._without_expired(picked, p_now);
            if cardinality(picked) = 0 then
                return;
            end if;
        end if;
        if p_ids is not null then
            -- With the current time instead of p_now: a wait may have timed out since this call began. Housekeeping of another session may
            -- have made its task ready since.
            perform pawl._settle_due(p_ids, p_tasks, pawl.now());
            select r.records, r.left_out, r.too_large into records, v_left_out, v_too_large
            from pawl._load_records(p_ids, p_tasks, pawl._claim_max()) r;
            if v_left_out is not null or v_too_large is not null then
                picked := pawl._leave_out_tasks(picked, v_left_out, v_too_large, p_now);
                if cardinality(picked) = 0 then
                    return;
                end if;
            end if;
        end if;
        if p_flow then
            -- guard:claim_ending
            picked := pawl._without_ending(picked, p_now);
            if cardinality(picked) = 0 then
                return;
            end if;
            keys := array(select i.run_id || ' ' || i.task_no from unnest(p_ids, p_tasks) with ordinality i (run_id, task_no, n) order by i.n);
            select f.keys, f.inputs, f.left_out into flow_keys, flow_inputs, v_left_out
            from pawl._flow_inputs(picked, pawl._claim_max()) f;
            if cardinality(v_left_out) > 0 then
                picked := pawl._leave_out_tasks(picked, v_left_out, null, p_now);
            end if;
            -- The time limit of a run is with its task 0.
            limited := array(
                select z.run_id
                from (select distinct t.run_id from pawl_data.task t where t.ctid = any (picked) and t.task_no > 0) r
                cross join lateral (
                    select z.run_id from pawl_data.task z where z.run_id = r.run_id and z.task_no = 0 and z.attached offset 0) z);
            if cardinality(limited) > 0 then
                -- guard:claim_expired_flow
                picked := pawl._without_expired(picked, p_now);
                if cardinality(picked) = 0 then
                    return;
                end if;
            end if;
        end if;
        if p_apart then
            v_left_out := pawl._over_input(picked, pawl._claim_max());
            if cardinality(v_left_out) > 0 then
                picked := pawl._leave_out_tasks(picked, v_left_out, null, p_now);
            end if;
        end if;
    exception
        when others then
            perform pawl._defer_broken(p_picked, p_now, sqlstate || ' ' || sqlerrm);
            picked := '{}';
    end;
end
$$;
comment on function pawl._load_picked(tid[], uuid[], int[], boolean, boolean, boolean, timestamptz) is 'loads records and inputs of picked tasks';

-- Records for tasks that are being claimed (locked), and that code of another version executed last, that this one does now.
create or replace function pawl._note_versions(p_all tid[], p_worker pawl_data.worker, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_task record;
begin
    for v_task in
        select t.run_id, t.task_no, t.kept, t.version
        from pawl_data.task t
        where t.ctid = any (p_all) and t.execution > 0 and t.version is distinct from p_worker.version
        order by t.run_id, t.task_no
    loop
        -- 1. The partition for audit rows of this run is missing, and cannot be made now. 2. Each claim of its queue picks the run first,
        -- and fails. Without the handler no task of the queue could be claimed. The audit row is lost, and doctor() shows the failure.
        -- guard:version_broken
        begin
            perform pawl._audit(v_task.run_id, v_task.task_no, v_task.kept, p_now, 'version',
                json_build_object('from', v_task.version, 'to', p_worker.version), p_worker.name);
        exception
            when others then
                perform pawl._note_failure('claims', p_now, format('run %s: %s %s', v_task.run_id, sqlstate, sqlerrm));
        end;
    end loop;
end
$$;
comment on function pawl._note_versions(tid[], pawl_data.worker, timestamptz) is 'records that runs are executed by code of another version';

-- Before a claim takes tasks: notes that they run under another version of the code, and that its worker rests no more.
create or replace function pawl._before_claim(p_all tid[], p_worker pawl_data.worker, p_changed boolean, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_changed then
        perform pawl._note_versions(p_all, p_worker, p_now);
    end if;
    if p_worker.idle then
        update pawl_data.worker w set idle = false, listens = false
        where w.ctid = any (array(select i.ctid from pawl_data.worker i where i.session_id = p_worker.session_id for update skip locked));
    end if;
end
$$;
comment on function pawl._before_claim(tid[], pawl_data.worker, boolean, timestamptz) is 'notes what changes when a claim takes tasks';

create or replace function pawl.claim(
    session bigint, max_tasks int default 1, request int default null, start boolean default true, quiet boolean default false)
returns table (
    run_id uuid, task int, fence int, workflow text, round int, execution int, tenant text, triggered_at timestamptz,
    rolling_back boolean, suspect boolean, input json, metadata json, record json, step_timeout_ms bigint,
    run_timeout_ms bigint, tick_due boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
-- Otherwise its large statements are planned at each call, which takes longer than to execute them.
set plan_cache_mode to force_generic_plan
as $$
#variable_conflict use_column
declare
    v_first_id boolean := pg_current_xact_id_if_assigned() is null;
    v_now timestamptz := pawl.now();
    v_worker pawl_data.worker;
    v_queues int[];
    v_max int := least(greatest(max_tasks, 0), 1000);
    v_left int;
    v_all tid[];
    v_ids uuid[];
    v_tasks int[];
    v_records json[];
    v_name text;
    v_timeout bigint;
    v_flow boolean;
    v_apart bigint;
    v_metadata bigint;
    v_changed boolean;
    v_expires boolean; -- a run that no worker has claimed may have expired
    v_laned uuid[];
    v_keys text[];
    v_flow_keys text[];
    v_flow_inputs json[];
    v_limited uuid[];
    v_tick_due boolean;
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        perform pawl._only_read_committed('claim');
    end if;
    v_worker := pawl._claimer(session, v_now);
    v_tick_due := pawl._tick_due(v_now, v_worker.tenant is null);
    if request is not null and exists (
        select from pawl_data.task t where t.place = 'h' and t.session_id = session and t.request = claim.request) then
        -- The reply to this request was lost: the same tasks again, with the fences they have.
        return query select h.*, v_tick_due from pawl._held(session, claim.request) h;
        return;
    end if;
    if v_worker.draining then
        return;
    end if;
    select p.picked, p.queues into v_all, v_queues from pawl._pick_tasks(v_worker, v_max, v_now, v_first_id) p;
    v_left := v_max - cardinality(v_all);
    -- guard:quiet
    if quiet and cardinality(v_all) = 0 and v_left > 0 and not exists (select from pawl_data.task t where t.place = 'h' and t.session_id = session) then
        v_all := pawl._pick_any_suspect(v_worker.queue_ids, v_worker.tenant, v_now);
    end if;
    if cardinality(v_all) = 0 then
        return;
    end if;
    -- Only runs that ran before have something to load. The rows are locked, so their addresses are good.
    select array_agg(t.run_id order by t.priority, t.due_at, t.run_id, t.task_no) filter (where t.execution > 0 or t.recorded),
           array_agg(t.task_no order by t.priority, t.due_at, t.run_id, t.task_no) filter (where t.execution > 0 or t.recorded),
           bool_or(t.task_no > 0), count(*) filter (where t.task_no = 0 and t.input_apart), sum(octet_length(t.metadata::text)),
           bool_or(t.execution > 0 and t.version is distinct from v_worker.version), array_agg(t.run_id) filter (where t.lane is not null), bool_or(t.attached and t.claimed_at is null)
    into v_ids, v_tasks, v_flow, v_apart, v_metadata, v_changed, v_laned, v_expires
    from pawl_data.task t
    where t.ctid = any (v_all);
    if v_ids is not null or v_flow or v_apart > 1 or v_expires then
        select l.picked, l.records, l.keys, l.flow_keys, l.flow_inputs, l.limited
        into v_all, v_records, v_keys, v_flow_keys, v_flow_inputs, v_limited
        from pawl._load_picked(v_all, v_ids, v_tasks, v_flow, v_apart > 1, v_expires, v_now) l;
        if cardinality(v_all) = 0 then
            return;
        end if;
    end if;
    if v_metadata > pawl._claim_max() then
        v_all := pawl._leave_out_tasks(v_all, pawl._over_metadata(v_all, pawl._claim_max()), null, v_now);
    end if;
    if v_changed or v_worker.idle then
        perform pawl._before_claim(v_all, v_worker, v_changed, v_now);
    end if;
    if cardinality(v_queues) = 1 and v_left < v_max then -- all tasks are of one queue: read its name and its limit once
        select q.name, (1000 * date_part('epoch', q.step_timeout))::bigint into v_name, v_timeout
        from pawl_data.queue q where q.queue_id = v_queues[1];
    end if;
    return query
    update pawl_data.task t
    set place = 'h', session_id = session, request = claim.request, fence = t.fence + 1,
        execution = t.execution + (start is not false)::int, started = start is not false, claimed_at = v_now,
        started_at = coalesce(t.started_at, case when start is not false then v_now end), reason = null, woken = false, version = v_worker.version
    where t.ctid = any (v_all)
      -- Tested in the UPDATE itself. 1. A, this claim, has checked its epoch and session. 2. A waits for a lock, such as the one of
      -- raise_epoch(). 3. B raises the epoch, or sweeps the session, and commits. 4. A continues. Without the first test A would claim
      -- under an old epoch, or after pause_all() has returned. Without the second it would claim for a session that has ended.
      -- guard:claim_epoch guard:claim_paused
      and session >> 32 = (select s.epoch from pawl_data.setting s where s.only_row and not s.paused)
      and exists (select from pawl_data.worker w where w.session_id = session and w.ended_at is null)
    returning t.run_id, t.task_no, t.fence,
              coalesce(v_name, (select q.name from pawl_data.queue q where q.queue_id = t.queue_id)), t.round::int, t.execution, t.tenant, t.triggered_at, t.rolling_back,
              t.crashes > 0 and pawl._ready_place(t.crashes) = 's',
              case when t.task_no > 0 then v_flow_inputs[array_position(v_flow_keys, t.run_id || ' ' || t.task_no)]
                   when t.input_apart then pawl._input_of(t.run_id) else t.input end, t.metadata,
              case when v_ids is null then null
                   when v_flow then v_records[array_position(v_keys, t.run_id || ' ' || t.task_no)]
                   else v_records[array_position(v_ids, t.run_id)] end,
              case when v_name is null then (
                       select (1000 * date_part('epoch', q.step_timeout))::bigint from pawl_data.queue q where q.queue_id = t.queue_id)
                   else v_timeout end,
              case when t.attached or t.run_id = any (v_limited) then pawl._run_timeout(t.run_id, v_now) end, v_tick_due;
    if v_laned is not null then
        perform pawl._take_from_lanes(v_laned, session, v_now);
    end if;
end
$$;
comment on function pawl.claim(bigint, int, int, boolean, boolean) is
'Claims up to max_tasks (at most 1,000) due tasks of all queues that the session handles: lower priority number first, then due time, and queues take turns. Of a workflow with a key_limit it takes no more runs with one tenant and limit key than the limit allows besides those that are held. Every claim raises the fence of the task; all later writes carry it. record holds the steps, open waits and failed attempts of a run that ran before; it is null for a new run. A call returns at most 64 MB of records, or one record, and as much of inputs, of coded runs and of flows each, and of metadata. It leaves other tasks for the next call. A run that has recorded more than 256 MB ends here, with the error record_too_large. step_timeout_ms and run_timeout_ms are limits that the worker enforces. With request, a repeated call whose reply was lost answers with the same tasks. With start, the worker starts the tasks now, and a lost lease counts as a crash; without, it starts them later, with a start item in commit. quiet means that the worker has nothing else in flight, so it may be given one suspect run. tick_due means that housekeeping is due: call tick() then, and after a claim that returned nothing. If no caller has called it for two seconds, a session that is not bound to a tenant does a little of it here.
If repeated: returns other tasks, or with the same request number the same tasks.
Locks: the tasks it takes, the lanes that it visits (at most four more than max_tasks for each queue with a key_limit), and up to 50 rows of late housekeeping; skips what others hold.
Errors: PW005 the session has ended, PW008 isolation level, PW012 older epoch.
Limits: 1,000 tasks.';

create or replace function pawl._held(p_session bigint, p_request int)
returns table (
    run_id uuid, task int, fence int, workflow text, round int, execution int, tenant text, triggered_at timestamptz,
    rolling_back boolean, suspect boolean, input json, metadata json, record json, step_timeout_ms bigint,
    run_timeout_ms bigint)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
begin
    return query
    select t.run_id, t.task_no, t.fence, q.name, t.round::int, t.execution, t.tenant, t.triggered_at, t.rolling_back,
           t.crashes > 0 and pawl._ready_place(t.crashes) = 's',
           case when t.task_no > 0 then (select f.inputs[1] from pawl._flow_inputs(array[t.ctid], 0) f)
                when t.input_apart then pawl._input_of(t.run_id) else t.input end, t.metadata,
           (select r.records[1] from pawl._load_records(array[t.run_id], array[t.task_no], 0) r),
           (1000 * date_part('epoch', q.step_timeout))::bigint, pawl._run_timeout(t.run_id, pawl.now())
    from pawl_data.task t
    join pawl_data.queue q on q.queue_id = t.queue_id
    where t.place = 'h' and t.session_id = p_session and (p_request is null or t.request = p_request)
    order by t.priority, t.due_at
    limit 1000;
end
$$;
comment on function pawl._held(bigint, int) is 'the tasks a session holds, in the form a claim returns them';

create or replace function pawl.held(session bigint)
returns table (run_id uuid, task int, fence int, workflow text, execution int, claimed_at timestamptz, notice text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
begin
    perform pawl._session(session, 'held');
    return query
    select t.run_id, t.task_no, t.fence, q.name, t.execution, t.claimed_at,
           case when t.ending is not null and not t.rolling_back or z.ending is not null then 'cancelled'
                when t.paused is not null then 'paused' end
    from pawl_data.task t
    join pawl_data.queue q on q.queue_id = t.queue_id
    -- The same rule as in heartbeat(): a task that was being committed when its flow failed is not marked itself.
    left join pawl_data.task z on t.task_no > 0 and z.run_id = t.run_id and z.task_no = 0 and z.ending is not null
    where t.place = 'h' and t.session_id = session
    order by t.run_id, t.task_no
    limit 10000;
end
$$;
comment on function pawl.held(bigint) is
'Lists the tasks that a session holds. A worker that reconnects calls it and releases, with a release item, the tasks it does not recognize.
If repeated: returns the same list.
Locks: none.
Errors: PW005 the session has ended, PW012 older epoch.
Limits: 10,000 tasks.';
