-- SPDX-License-Identifier: Apache-2.0
-- One item of a commit: lock, check, and hand over to the function for its kind.

-- Returns the numbers of items that wait for an event and whose names have no record. One search finds them all, because a search among records
-- is planned at each call. Other items may have a record or not. The tasks are locked first: 1. A, a call whose reply was lost, is
-- still in progress. 2. B, the same call sent again, finds no record of the name. 3. A records it and commits. With a search before the lock B
-- would record it again.
create or replace function pawl._unrecorded(p_session bigint, p_runs uuid[], p_tasks int[], p_fences int[], p_kinds text[], p_names text[])
returns bigint[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_items bigint[];
    v_runs uuid[];
    v_tasks int[];
    v_names text[];
begin
    select array_agg(i.n), array_agg(i.run_id), array_agg(i.task_no), array_agg(i.name) into v_items, v_runs, v_tasks, v_names
    from (
        -- An earlier item of the call may record the name.
        -- guard:unrecorded_first
        select i.*, row_number() over (partition by i.run_id, i.task_no, i.name order by i.n) as nth
        from (
            select i.run_id, coalesce(i.task_no, 0) as task_no, i.fence, i.kind, i.name, i.n
            from unnest(p_runs, p_tasks, p_fences, p_kinds, p_names) with ordinality i (run_id, task_no, fence, kind, name, n)
        ) i
    ) i
    cross join lateral (
        select from pawl_data.task t
        where t.run_id = i.run_id and t.task_no = i.task_no and t.session_id = p_session and t.fence = i.fence and not t.kept
          and t.triggered_at > pawl.now() - interval '24 hours'
        for update skip locked
    ) t
    where i.kind = 'event' and i.nth = 1 and i.name is not null;
    if coalesce(cardinality(v_items), 0) < 2 then
        return null;
    end if;
    return array(
        select u.n
        from unnest(v_items) with ordinality u (n, place)
        where not exists (select from pawl._recorded_places(v_runs, v_tasks, v_names) r where r = u.place));
end
$$;
comment on function pawl._unrecorded(bigint, uuid[], int[], int[], text[], text[]) is 'items that wait for an event and have no record yet; locks their tasks';

-- Applies the items that p_done does not list, in order. After a rejected item later items of the same claim are not examined: a run must
-- not end without a step that precedes its end. They answer busy, so that the worker sends them again, or lease_lost if the first one did.
-- With p_each an error in one item leaves other items alone, which costs a subtransaction for each.
create or replace function pawl._commit_rest(
    p_session bigint, p_now timestamptz, p_runs uuid[], p_tasks int[], p_fences int[], p_kinds text[], p_names text[],
    p_payloads text[], p_seqs int[], p_millis int[], p_options text[], p_done bigint[], p_each boolean)
returns table (item int, answer text, reason text, value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_item record;
    -- By the number of a claim (run, task and fence): the answer for its later items after one of its items was rejected.
    v_stopped text[] := array_fill(null::text, array[cardinality(p_runs)]);
    v_unrecorded bigint[];
begin
    if not p_each and array_positions(p_kinds, 'event') <> '{}' then
        v_unrecorded := pawl._unrecorded(p_session, p_runs, p_tasks, p_fences, p_kinds, p_names);
    end if;
    for v_item in
        select i.*, dense_rank() over (order by i.run_id, coalesce(i.task_no, 0), i.fence) as claim
        from unnest(p_runs, p_tasks, p_fences, p_kinds, p_names, p_payloads, p_seqs, p_millis, p_options)
                 with ordinality i (run_id, task_no, fence, kind, name, payload, seq, millis, option, n)
        where not exists (select from unnest(p_done) d where d = i.n)
        order by i.n
    loop
        item := v_item.n::int;
        if v_stopped[v_item.claim] is not null then
            answer := v_stopped[v_item.claim];
            reason := 'an earlier item of this claim was not taken';
            value := null;
        elsif p_each then
            select a.answer, a.reason, a.value into answer, reason, value
            from pawl._commit_item_alone(p_session, p_now, v_item.run_id, coalesce(v_item.task_no, 0), v_item.fence,
                v_item.kind, v_item.name, v_item.payload, v_item.seq, v_item.millis, v_item.option) a;
        else
            select a.answer, a.reason, a.value into answer, reason, value
            from pawl._commit_item(p_session, p_now, v_item.run_id, coalesce(v_item.task_no, 0), v_item.fence,
                v_item.kind, v_item.name, v_item.payload, v_item.seq, v_item.millis, v_item.option::json,
                coalesce(v_item.n = any (v_unrecorded), false)) a;
        end if;
        -- The answer cancelled stops no later item, because a cancelled run still accepts the item that releases it. A refused note stops
        -- none either, because no item depends on a note.
        if answer in ('busy', 'lease_lost', 'refused') and not (answer = 'refused' and v_item.kind is not distinct from 'note')
           and v_stopped[v_item.claim] is null then
            v_stopped[v_item.claim] := case when answer = 'lease_lost' then answer else 'busy' end;
        end if;
        return next;
    end loop;
end
$$;
comment on function pawl._commit_rest(bigint, timestamptz, uuid[], int[], int[], text[], text[], text[], int[], int[], text[], bigint[], boolean) is 'commits items one by one, in order';

create or replace function pawl._commit_item_alone(
    p_session bigint, p_now timestamptz, p_run uuid, p_task int, p_fence int, p_kind text, p_name text, p_payload text,
    p_seq int, p_millis int, p_option text, out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    select a.answer, a.reason, a.value into answer, reason, value
    from pawl._commit_item(p_session, p_now, p_run, p_task, p_fence, p_kind, p_name, p_payload, p_seq, p_millis,
                           p_option::json, false) a;
exception
    when data_exception or integrity_constraint_violation or program_limit_exceeded then
        answer := 'refused';
        reason := sqlerrm;
        value := null;
end
$$;
comment on function pawl._commit_item_alone(bigint, timestamptz, uuid, int, int, text, text, text, int, int, text) is 'commits one item; if its data is bad, only that item is refused';

-- Returns whether an earlier call has applied this item, so that only its reply was lost, and the recorded value. No session holds the
-- task.
create or replace function pawl._was_done(p_task pawl_data.task, p_fence int, p_kind text, p_name text, p_closing boolean, out done boolean, out value json)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    done := false;
    if p_task.fence = p_fence then
        -- Only this claim can have released the task without raising the fence.
        value := pawl._recorded(p_task.run_id, p_task.task_no, p_name);
        done := p_kind in ('suspend', 'release', 'fail', 'start', 'note') or value is not null
                or p_kind = 'retry' and p_task.retries -> p_name is not null;
    end if;
    -- This claim's failure started the rollback, and that raised the fence.
    done := done or p_task.rolling_back and p_task.fence = p_fence + 1 and p_closing and (p_task.ending ->> 'fence')::int is not distinct from p_fence;
end
$$;
comment on function pawl._was_done(pawl_data.task, int, text, text, boolean) is 'whether an item was done by an earlier call';

create or replace function pawl._commit_item(
    p_session bigint, p_now timestamptz, p_run uuid, p_task int, p_fence int, p_kind text, p_name text, p_payload text,
    p_seq int, p_millis int, p_option json, p_unrecorded boolean, out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_task pawl_data.task;
    v_run pawl_data.task;
    v_bound text := pawl._bound_tenant(null);
    v_closing boolean := p_kind in ('complete', 'fail', 'suspend', 'release', 'drift');
    v_done boolean;
begin
    -- The engine reads values out of errors later, and would fail at characters that a text cannot hold.
    -- guard:readable_errors
    if p_kind in ('retry', 'fail', 'step_error') then
        p_payload := pawl._readable(p_payload);
    end if;
    -- guard:item_lock
    select t.* into v_task
    from pawl_data.task t where t.run_id = p_run and t.task_no = p_task and (v_bound is null or t.tenant = v_bound)
    for update skip locked;
    -- A separate statement after the lock. 1. A, this commit, waits for the lock of B, raise_epoch(), on the table of tasks. 2. B commits.
    -- 3. A continues, and this statement takes a new snapshot. Without the test A would write under the old epoch.
    -- guard:item_epoch
    if p_session >> 32 is distinct from (select s.epoch from pawl_data.setting s where s.only_row) then
        answer := 'lease_lost';
        reason := 'the session belongs to an older epoch';
        return;
    end if;
    if v_task.run_id is null then
        select m.answer, m.reason, m.value into answer, reason, value
        from pawl._missing(p_session, p_now, p_run, p_task, p_fence, p_kind, p_name) m;
        return;
    end if;
    if v_task.session_id is null then
        select w.done, w.value into v_done, value from pawl._was_done(v_task, p_fence, p_kind, p_name, v_closing) w;
        if v_done then
            answer := 'already';
            return;
        end if;
    end if;
    -- guard:item_fence
    if v_task.session_id is distinct from p_session or v_task.fence is distinct from p_fence then
        answer := 'lease_lost';
        reason := 'the task was given to another claim';
        if not pawl._noted_late(v_task.run_id, v_task.task_no, v_task.kept, p_now, p_session, p_fence, p_kind, p_name) then
            answer := 'busy';
            reason := 'another call of the session sends late results';
        end if;
        return;
    end if;
    if p_task > 0 and v_closing then
        -- An item that releases a task of a flow concerns the whole run, so lock the run, too.
        if not pawl._lock_flow(p_run) then
            answer := 'busy';
            reason := 'another transaction holds the run';
            return;
        end if;
        select t.* into v_run from pawl_data.task t where t.run_id = p_run and t.task_no = 0;
        reason := pawl._item_problem(v_task, p_kind, p_name, p_payload, p_option, p_seq);
        if reason is not null then
            answer := 'refused';
            return;
        end if;
        select s.answer, s.reason, s.value into answer, reason, value
        from pawl._commit_task(v_run, v_task, p_now, p_kind, p_name, p_payload, p_option) s;
        return;
    end if;
    -- 1. A, this commit, starts a child for a task of a flow. 2. B fails a sibling task and cancels the children of the run. 3. Unless A
    -- holds task 0, B does not see the new child, and the child outlives its flow. So A locks task 0, or answers busy. Other waits of a
    -- task end with the task.
    -- guard:child_meets_flow
    if p_task > 0 and p_kind = 'child' then
        perform from pawl_data.task t where t.run_id = p_run and t.task_no = 0 for update skip locked;
        if not found then
            answer := 'busy';
            reason := 'another transaction holds the run';
            return;
        end if;
    end if;
    -- A flow that has failed still records results of its tasks; a cancelled run or flow does not.
    -- guard:item_cancel
    if v_task.ending is not null and not v_task.rolling_back and (p_task = 0 or v_task.ending ->> 'status' = 'CANCELLED')
       -- In a flow that is ending nothing new starts, so a task cannot wait for anything either. The task itself may lack the mark; task 0
       -- has it.
       or p_task > 0 and p_kind in ('sleep', 'event', 'signal', 'approval', 'child') and exists (
           select from pawl_data.task t where t.run_id = p_run and t.task_no = 0 and t.ending is not null) then
        answer := 'cancelled';
        reason := v_task.ending ->> 'why';
        if v_closing and pawl._end_or_roll_back(v_task, 'c',
               json_build_object('code', 'cancelled', 'message', coalesce(v_task.ending ->> 'why', 'cancelled')),
               (v_task.ending ->> 'rollback')::boolean, p_now) = 'busy' then
            answer := 'busy';
        end if;
        return;
    end if;
    reason := pawl._item_problem(v_task, p_kind, p_name, p_payload, p_option, p_seq);
    if reason is not null then
        answer := 'refused';
        return;
    end if;
    if p_kind in ('step', 'begin', 'step_error', 'retry', 'confirm') then
        select s.answer, s.reason, s.value into answer, reason, value
        from pawl._commit_step(v_task, p_now, p_kind, p_name, p_payload, p_seq, p_millis, p_option) s;
    elsif p_kind in ('sleep', 'event', 'signal', 'approval', 'child') then
        select s.answer, s.reason, s.value into answer, reason, value
        from pawl._commit_wait(v_task, p_now, p_kind, p_name, p_payload, p_seq, p_option, p_unrecorded) s;
    else
        select s.answer, s.reason, s.value into answer, reason, value
        from pawl._commit_close(v_task, p_now, p_kind, p_name, p_payload, p_option) s;
    end if;
end
$$;
comment on function pawl._commit_item(bigint, timestamptz, uuid, int, int, text, text, text, int, int, json, boolean) is 'commits one item and answers for it';

-- Returns why an item is invalid, or null.
create or replace function pawl._item_problem(
    p_task pawl_data.task, p_kind text, p_name text, p_payload text, p_option json, p_seq int)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_named boolean := p_kind in ('step', 'begin', 'step_error', 'retry', 'confirm', 'sleep', 'event', 'signal', 'approval', 'child');
    v_max int := (select s.payload_max from pawl_data.setting s where s.only_row);
    v_problem text;
begin
    if p_kind is null or not v_named
       and p_kind not in ('complete', 'fail', 'suspend', 'release', 'drift', 'start', 'note') then
        return format('unknown kind "%s"', p_kind);
    end if;
    -- 1. An option of a step is nested deeper than a worker can read. 2. The step is recorded with it. 3. Every worker that claims the run
    -- releases it again, and it never ends.
    -- guard:option_depth
    v_problem := pawl._payload_problem(p_option::text, 65536);
    if p_option is not null and v_problem is not null then
        return replace(v_problem, 'payload', 'option');
    end if;
    if v_named and (p_name is null or length(p_name) > 240
                    or p_name !~ '^(rollback:)?([a-z0-9_.-]{1,100}/)*[a-z0-9_.-]{1,100}#[0-9]{1,9}$') then
        return format('bad step name "%s": it must be BRANCH/NAME#n with names of 1 to 100 of a-z, 0-9, _, . and -, at most 240 characters in all', left(p_name, 300));
    end if;
    if v_named and (p_name like 'rollback:%') <> p_task.rolling_back then
        return case when p_task.rolling_back then 'the run is rolling back: only its undos are recorded'
                    else 'the run is not rolling back' end;
    end if;
    if v_named and p_seq > 100000 and not p_task.rolling_back then
        return 'a run records at most 100000 steps: let it end, and go on in a new run';
    end if;
    if p_kind = 'begin' and p_task.rolling_back then
        -- guard:undo_of_undo
        return 'an undo has no undo of its own';
    end if;
    if p_kind = 'begin' and (p_option -> 'undo' ->> 'handler') is null then
        return 'begin needs an undo with a handler';
    end if;
    -- guard:undo_name
    if p_kind = 'begin' and length('rollback:' || pawl._undo_name(p_task.queue_id, p_name, p_task.task_no)) > 240 then
        return format('the name of the step "%s" is too long for a step with an undo', p_name);
    end if;
    if p_kind = 'sleep' and (p_option ->> 'ms') is null then
        return 'sleep needs ms';
    end if;
    if p_payload is not null then
        return pawl._payload_problem(p_payload, v_max);
    end if;
    return null;
end
$$;
comment on function pawl._item_problem(pawl_data.task, text, text, text, json, int) is 'why an item cannot be taken, or null';

-- Writes an audit row for a late result, once for each claim, kind and name: a repeated item is not a second result. Returns false if
-- another call of the session is recording late results, perhaps this one; then the worker sends the item again.
create or replace function pawl._noted_late(
    p_run uuid, p_task int, p_kept boolean, p_now timestamptz, p_session bigint, p_fence int, p_kind text, p_name text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_detail json := json_build_object('kind', p_kind, 'name', p_name, 'session', p_session, 'fence', p_fence);
begin
    if p_kind not in ('step', 'complete', 'fail', 'step_error') then
        return true;
    end if;
    -- 1. A sends a result late, and loses the connection. 2. B, another connection of the session, sends it again before A has committed.
    -- An ended run has no task row to lock, so all late results of a session take turns at the row of the session. Without the lock B would
    -- not see the audit row of A, and would write a second one.
    -- guard:late_lock
    perform from pawl_data.worker w where w.session_id = p_session for no key update skip locked;
    if not found then
        return false;
    end if;
    if exists (
        select from pawl_data.audit a
        where a.run_id = p_run and a.task_no = p_task and a.what = 'late_result' and a.detail::text = v_detail::text
        union all
        select from pawl_data.audit_kept k
        where k.run_id = p_run and k.task_no = p_task and k.what = 'late_result' and k.detail::text = v_detail::text) then
        return true;
    end if;
    perform pawl._audit(p_run, p_task, p_kept, p_now, 'late_result', v_detail);
    return true;
end
$$;
comment on function pawl._noted_late(uuid, int, boolean, timestamptz, bigint, int, text, text) is 'audits a write that came after its fence was raised';

-- Returns the record or the open wait of this name, for an item that is sent again after its claim has ended.
create or replace function pawl._recorded(p_run uuid, p_task int, p_name text)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce(
        -- The open wait first: if there is one, a record of that name is of an earlier round.
        (select json_build_object('state', 'PAUSED', 'child', w.child_id)
         from pawl_data.wait w where w.run_id = p_run and w.task_no = p_task and w.name = p_name and w.kind <> 'l'),
        (select json_build_object('state', pawl._state_name(s.state), 'output', s.output, 'error', s.error)
         from pawl._step(p_run, p_task, p_name) s order by s.round desc limit 1));
end
$$;
comment on function pawl._recorded(uuid, int, text) is 'the record or the open wait of a step, as commit answers with it';

-- The row could not be locked: another transaction has it, or the run has ended.
create or replace function pawl._missing(
    p_session bigint, p_now timestamptz, p_run uuid, p_task int, p_fence int, p_kind text, p_name text,
    out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl_data.run;
    v_kept boolean;
    v_bound text := pawl._bound_tenant(null);
begin
    if exists (
        select from pawl_data.task t where t.run_id = p_run and t.task_no = p_task and (v_bound is null or t.tenant = v_bound)) then
        answer := 'busy';
        reason := 'another transaction holds the run';
        return;
    end if;
    -- A run of a flow can outlive the task.
    select t.kept into v_kept
    from pawl_data.task t
    join pawl_data.queue q on q.queue_id = t.queue_id
    join pawl_data.workflow w on w.workflow_id = q.workflow_id
    where p_task > 0 and t.run_id = p_run and t.task_no = 0 and w.flow and (v_bound is null or t.tenant = v_bound);
    if found then
        select m.answer, m.reason, m.value into answer, reason, value
        from pawl._missing_task(p_run, p_task, p_fence, p_kind, p_name) m;
        if answer = 'lease_lost'
           and not pawl._noted_late(p_run, p_task, v_kept, p_now, p_session, p_fence, p_kind, p_name) then
            answer := 'busy';
            reason := 'another call of the session sends late results';
        end if;
        return;
    end if;
    v_run := pawl._last_run(p_run);
    if v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant) then
        answer := 'refused';
        reason := 'no such run';
        return;
    end if;
    if p_task > 0 then
        select m.answer, m.reason, m.value into answer, reason, value from pawl._missing_task(p_run, p_task, p_fence, p_kind, p_name) m;
        if answer in ('already', 'refused') then
            return;
        end if;
    end if;
    -- This claim has ended the run, so an item that is sent again answers already. A run that was cancelled without a rollback answers
    -- cancelled again, below. Without the test of p_task a task of a flow would pass with a fence that is not the run's.
    -- guard:missing_task_fence
    if p_task = 0 and v_run.session_id = p_session and v_run.fence = p_fence and (v_run.status <> 'c' or v_run.rolled_back) then
        value := pawl._recorded(p_run, p_task, p_name);
        if p_kind = 'complete' and v_run.status = 'e' and not v_run.rolled_back then
            answer := 'refused';
            reason := 'this claim has failed the run';
            return;
        end if;
        -- Waits and retries leave no record if the run ends first.
        if value is not null or p_kind not in ('step', 'begin', 'step_error', 'confirm')
                                and (v_run.status <> 'c' or v_run.rolled_back) then
            answer := 'already';
            return;
        end if;
    end if;
    if v_run.status = 'c' then
        answer := 'cancelled';
        reason := 'the run was cancelled';
        return;
    end if;
    answer := 'lease_lost';
    reason := 'the run has ended';
    if not pawl._noted_late(p_run, p_task, exists (select from pawl_data.run_kept k where k.run_id = p_run), p_now, p_session,
           p_fence, p_kind, p_name) then
        answer := 'busy';
        reason := 'another call of the session sends late results';
    end if;
end
$$;
comment on function pawl._missing(bigint, timestamptz, uuid, int, int, text, text) is 'answers for an item whose task could not be locked';

-- Commits an item about a step. A result (step), a start with an undo (begin), a final failure (step_error) or a failed attempt (retry). A
-- confirm asks whether the caller's transaction recorded the step.
create or replace function pawl._commit_step(
    p_task pawl_data.task, p_now timestamptz, p_kind text, p_name text, p_payload text, p_seq int, p_millis int, p_option json,
    out answer text, out reason text, out value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_old pawl_data.step;
    v_failure record;
begin
    select s.* into v_old
    from pawl._step(p_task.run_id, p_task.task_no, p_name) s
    where s.state <> 'e' or s.round = p_task.round
    order by s.round desc limit 1;
    if v_old.run_id is null and p_task.attached then
        select w.kind into v_old.kind
        from pawl_data.wait w
        where w.run_id = p_task.run_id and w.task_no = p_task.task_no and w.name = p_name and w.kind <> 'l';
    end if;
    if v_old.kind <> 's' then
        perform pawl._pause_for_drift(p_task, p_now, p_name, pawl._kind_name(v_old.kind), 'step');
        answer := 'refused';
        reason := 'drift';
        return;
    end if;
    if v_old.state in ('s', 'e', 'k') then
        -- guard:first_write_wins
        answer := 'already';
        value := json_build_object('state', pawl._state_name(v_old.state), 'output', v_old.output, 'error', v_old.error);
        return;
    end if;
    answer := 'ok';
    if p_kind = 'confirm' then
        answer := 'refused';
        reason := 'the step was not recorded';
    elsif p_kind = 'begin' then
        if v_old.state = 'r' then
            answer := 'already';
            return;
        end if;
        perform pawl._record(p_task, p_name, 's', 'r', p_seq, null, null, p_now, 0, 1, p_option -> 'undo');
        update pawl_data.task t set undo = true, recorded = true, crashes = 0
        where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    elsif p_kind = 'step' then
        perform pawl._put_step(p_task, v_old, p_name, 's', p_payload::json, null, p_seq, p_now, p_millis);
        perform pawl._note_progress(p_task, p_name);
    elsif p_kind = 'step_error' then
        perform pawl._put_step(p_task, v_old, p_name, 'e', null, coalesce(p_payload, '{}')::json, p_seq, p_now, p_millis);
        perform pawl._note_progress(p_task, p_name);
    else
        select f.* into v_failure
        from pawl._count_failure(p_task, p_name, coalesce(p_payload, '{}')::json, p_option, p_now) f;
        if v_failure.final then
            perform pawl._put_step(p_task, v_old, p_name, 'e', null, coalesce(p_payload, '{}')::json, p_seq, p_now, p_millis,
                v_failure.n);
            perform pawl._note_progress(p_task, p_name);
            value := json_build_object('final', true, 'failures', v_failure.n);
        else
            value := json_build_object('final', false, 'failures', v_failure.n, 'delay_ms',
                (1000 * date_part('epoch', v_failure.due - p_now))::bigint);
        end if;
    end if;
end
$$;
comment on function pawl._commit_step(pawl_data.task, timestamptz, text, text, text, int, int, json) is 'commits an item about a step';

-- Writes the end of a step: a new row, or the row that its start wrote.
create or replace function pawl._put_step(
    p_task pawl_data.task, p_old pawl_data.step, p_name text, p_state "char", p_output json, p_error json, p_seq int, p_now timestamptz,
    p_millis int, p_attempt int default null)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
declare
    v_attempt int := coalesce(p_attempt, 1 + coalesce((p_task.retries -> p_name ->> 'n')::int, 0));
begin
    if p_old.run_id is null then
        perform pawl._record(p_task, p_name, 's', p_state, p_seq, p_output, p_error, p_now, p_millis, v_attempt);
        return;
    end if;
    if p_task.kept then
        update pawl_data.step_kept s
        set state = p_state, output = p_output, error = p_error, ended_at = p_now, attempt = v_attempt,
            fence = p_task.fence, round = p_task.round
        where s.run_id = p_old.run_id and s.task_no = p_old.task_no and s.name = p_name and s.round = p_old.round;
    else
        update pawl_data.step s
        set state = p_state, output = p_output, error = p_error, ended_at = p_now, attempt = v_attempt,
            fence = p_task.fence, round = p_task.round
        where s.run_id = p_old.run_id and s.task_no = p_old.task_no and s.name = p_name and s.round = p_old.round;
    end if;
end
$$;
comment on function pawl._put_step(pawl_data.task, pawl_data.step, text, "char", json, json, int, timestamptz, int, int) is 'writes the result of a step';

