-- SPDX-License-Identifier: Apache-2.0
-- How a run ends, or starts to roll back, when something about it is not plain. The plain end is in commit.

-- Completes a wait: writes its record, deletes the wait and makes the task ready. Returns false if it was completed before, or if its run
-- records nothing more. The caller holds the row of the task.
create or replace function pawl._settle(
    p_task pawl_data.task, p_wait pawl_data.wait, p_state "char", p_output json, p_error json, p_source uuid, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_gone int;
begin
    -- After an acknowledged cancel only undos are recorded. The wait is deleted with the run.
    -- guard:settle_cancelled
    if p_task.ending is not null and not p_task.rolling_back then
        return false;
    end if;
    -- guard:settle_once
    delete from pawl_data.wait w where w.run_id = p_wait.run_id and w.task_no = p_wait.task_no and w.name = p_wait.name;
    get diagnostics v_gone = row_count;
    if v_gone = 0 then
        return false;
    end if;
    perform pawl._record(p_task, p_wait.name, p_wait.kind, p_state, p_wait.seq, p_output, p_error, p_now,
        (1000 * date_part('epoch', p_now - p_wait.created_at))::bigint, 1, null, p_source);
    perform pawl._make_ready(p_task, p_now);
    return true;
end
$$;
comment on function pawl._settle(pawl_data.task, pawl_data.wait, "char", json, json, uuid, timestamptz) is 'ends a wait with a record and wakes its task';

-- Ends the run of p_task (task 0, locked by the caller). Returns ok, or busy if another transaction holds its parent: then nothing was
-- changed.
create or replace function pawl._end_run(
    p_task pawl_data.task, p_status "char", p_output json, p_error json, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_parent pawl_data.task;
    v_wait pawl_data.wait;
    -- A step of a flow that is a child run has no task: its end locks task 0 of the flow.
    v_flow boolean := strpos(p_task.parent_step, '#') = 0;
    v_no int := case when v_flow then 0 else coalesce(p_task.parent_task, 0) end;
    -- The state of the parent's step: a cancelled child is an error there.
    v_state "char" := case when p_status = 's' then 's' else 'e' end;
    v_error json;
    v_freed int := 0;
begin
    if p_task.parent_id is not null and p_task.parent_step is not null then
        -- guard:parent_lock
        select t.* into v_parent
        from pawl_data.task t where t.run_id = p_task.parent_id and t.task_no = v_no
        for update skip locked;
        if not found and exists (select from pawl_data.task t where t.run_id = p_task.parent_id and t.task_no = v_no) then
            return 'busy';
        end if;
        if v_flow and v_parent.run_id is not null and not pawl._lock_flow(p_task.parent_id) then
            return 'busy';
        end if;
    end if;
    delete from pawl_data.task t where t.run_id = p_task.run_id;
    -- guard:end_leaves_lane
    if p_task.lane is not null then
        perform pawl._leave_lane(p_task, p_now, true);
    end if;
    if p_task.key is not null then
        delete from pawl_data.key k
        using pawl_data.queue q
        where q.queue_id = p_task.queue_id and k.tenant = p_task.tenant and k.workflow_id = q.workflow_id
          and k.key = p_task.key and k.run_id = p_task.run_id and k.expires_at = 'infinity';
        get diagnostics v_freed = row_count;
    end if;
    perform pawl._write_end(p_task, p_status, p_output, p_error, p_now, v_freed = 1);
    if p_status = 'c' then
        perform pawl._cancel_children(p_task, p_now);
    end if;
    delete from pawl_data.wait w where w.run_id = p_task.run_id;
    delete from pawl_data.signal g where g.run_id = p_task.run_id;
    delete from pawl_data.gate g where g.run_id = p_task.run_id;
    if v_parent.run_id is not null then
        -- A separate statement after the lock. 1. A, a commit of the parent, opens a wait for this child and commits. 2. B, this end, gets
        -- the lock. 3. This statement takes a new snapshot, so B sees the wait. With an older one B could miss it, and the parent would
        -- wait forever.
        select w.* into v_wait
        from pawl_data.wait w
        where w.run_id = v_parent.run_id and w.task_no = coalesce(p_task.parent_task, 0) and w.name = p_task.parent_step
          and w.child_id = p_task.run_id;
        if found then
            v_error := case when p_status = 'c' then json_build_object('code', 'child_cancelled', 'child', p_task.run_id)
                            when p_status = 'e' then json_build_object('code', 'child_failed', 'child', p_task.run_id, 'error', p_error) end;
            if v_flow then
                delete from pawl_data.wait w where w.run_id = v_wait.run_id and w.task_no = v_wait.task_no and w.name = v_wait.name;
                if v_parent.ending is null or v_parent.ending ->> 'status' = 'ERROR' then
                    perform pawl._finish_task(v_parent, v_wait.task_no, v_state, p_output, v_error, p_now, 1, 0,
                        v_wait.created_at, p_task.run_id);
                end if;
            else
                perform pawl._settle(v_parent, v_wait, v_state, p_output, v_error, p_task.run_id, p_now);
            end if;
        end if;
    end if;
    return 'ok';
end
$$;
comment on function pawl._end_run(pawl_data.task, "char", json, json, timestamptz) is 'moves a run to history and tells its parent';

-- Writes the row of history. The partition of a run that has lived for more than a day may be gone when the run is read again. So such a
-- run is stored in the kept tables from then on.
create or replace function pawl._write_end(
    p_task pawl_data.task, p_status "char", p_output json, p_error json, p_now timestamptz, p_key_freed boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_kept boolean := p_task.kept;
    v_run pawl_data.run;
begin
    if not v_kept and p_task.triggered_at < p_now - interval '24 hours' then
        perform pawl._keep(p_task.run_id);
        v_kept := true;
    end if;
    v_run := row(p_task.run_id, p_task.round, p_status, p_task.priority, p_task.queue_id, p_task.fence, p_task.execution,
        p_task.session_id, p_task.triggered_at, p_task.started_at, p_now, p_task.rolling_back, p_task.input_apart,
        p_key_freed, p_task.tenant, p_task.limit_key, p_task.key, p_task.parent_id, p_task.parent_step, p_task.parent_task,
        case when p_task.round = 1 then p_task.input end, p_task.metadata, p_output, p_error, p_task.version)::pawl_data.run;
    -- There is a row if a caller has called the id of an ended run new: see _check_new(). The second run must be able to end. If its worker
    -- ends it with commit(), that fails, and the worker sends it again with commit_each(), which ends it here.
    if v_kept then
        insert into pawl_data.run_kept select v_run.* on conflict do nothing;
    else
        perform pawl._need_partitions(array[p_task.run_id], array['run']);
        -- guard:second_run_ends
        insert into pawl_data.run select v_run.* on conflict do nothing;
    end if;
end
$$;
comment on function pawl._write_end(pawl_data.task, "char", json, json, timestamptz, boolean) is 'writes the row that ends a round';

-- Notes where the rows of an ended run are that the caller deletes: see _ended_between(). Not by a unique row for each piece, because a purge
-- would wait for others that have deleted from it and have not committed.
create or replace function pawl._free_place(p_id uuid)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_day date := (pawl._id_time(p_id) at time zone 'UTC')::date;
begin
    insert into pawl_data.freed (day, piece)
    select distinct v_day, ((r.ctid::text::point)[0])::bigint / 64
    from pawl_data.run r
    where r.run_id = p_id and not exists (
        select from pawl_data.freed f where f.day = v_day and f.piece = ((r.ctid::text::point)[0])::bigint / 64);
end
$$;
comment on function pawl._free_place(uuid) is 'notes where rows of an ended run are that are deleted';

-- Moves the records of a run from the partition of its day to the kept tables.
create or replace function pawl._keep(p_id uuid)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    with gone as (delete from pawl_data.step s where s.run_id = p_id returning s.*)
    insert into pawl_data.step_kept select g.* from gone g;
    with gone as (delete from pawl_data.audit a where a.run_id = p_id returning a.*)
    insert into pawl_data.audit_kept select g.* from gone g;
    with gone as (delete from pawl_data.note n where n.run_id = p_id returning n.*)
    insert into pawl_data.note_kept select g.* from gone g;
    with gone as (delete from pawl_data.input i where i.run_id = p_id returning i.*)
    insert into pawl_data.input_kept select g.* from gone g;
    with gone as (delete from pawl_data.tag g where g.run_id = p_id returning g.*)
    insert into pawl_data.tag_kept select g.* from gone g;
    perform pawl._free_place(p_id);
    with gone as (delete from pawl_data.run r where r.run_id = p_id returning r.*)
    insert into pawl_data.run_kept select g.* from gone g;
end
$$;
comment on function pawl._keep(uuid) is 'moves the records of a run to the kept tables';

-- Starts the grace period in which holders must release a run that is ending; housekeeping enforces it.
create or replace function pawl._start_grace(p_task pawl_data.task, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, created_at, due_at)
    values (p_task.run_id, 0, 'grace', 'l', 0, p_task.tenant, p_now, pawl._shift(p_now, (select s.grace from pawl_data.setting s where s.only_row)))
    on conflict on constraint wait_pkey do nothing;
end
$$;
comment on function pawl._start_grace(pawl_data.task, timestamptz) is 'bounds the time until a run that is to end does so';

-- Cancels the children, too: each gets a time limit that has passed already; housekeeping enforces it.
create or replace function pawl._cancel_children(p_task pawl_data.task, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, created_at, due_at)
    select w.child_id, 0, 'cancel', 'l', 0, w.tenant, p_now, p_now
    from pawl_data.wait w
    where w.run_id = p_task.run_id and w.kind = 'c'
      and exists (select from pawl_data.task t where t.run_id = w.child_id and t.task_no = 0)
    on conflict on constraint wait_pkey do nothing;
end
$$;
comment on function pawl._cancel_children(pawl_data.task, timestamptz) is 'asks housekeeping to cancel the children of a run';

-- Asks housekeeping to cancel a run, whatever another transaction does with it now.
create or replace function pawl._cancel_soon(p_id uuid, p_tenant text, p_now timestamptz, p_why text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, created_at, due_at)
    select p_id, 0, 'cancel', 'l', 0, p_tenant, p_why, p_now, p_now
    where pawl._lives(p_id)
    on conflict on constraint wait_pkey do nothing;
end
$$;
comment on function pawl._cancel_soon(uuid, text, timestamptz, text) is 'asks housekeeping to cancel a run';

-- Ends a run with this status (ERROR or CANCELLED), at once or after its undos.
create or replace function pawl._end_or_roll_back(p_task pawl_data.task, p_status "char", p_error json, p_rollback boolean, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    -- Read undo now: a task of a flow sets it on its run when the task ends, which may have been a moment ago.
    if p_rollback and not p_task.rolling_back
       and (select t.undo from pawl_data.task t where t.run_id = p_task.run_id and t.task_no = p_task.task_no)
       and json_array_length(pawl._undone(p_task)) > 0 then
        if p_status = 'c' then
            perform pawl._cancel_children(p_task, p_now);
        end if;
        delete from pawl_data.wait w where w.run_id = p_task.run_id;
        delete from pawl_data.gate g where g.run_id = p_task.run_id;
        -- guard:rollback_leaves_lane
        if p_task.lane is not null then
            perform pawl._leave_lane(p_task, p_now, false);
        end if;
        update pawl_data.task t
        -- An operator's cancel is newer than the pause, and ends it. A failure does not, so its rollback waits for the resume.
        set place = case when t.paused is not null and p_status = 'e' then 'w' else pawl._ready_place(t.crashes) end,
            due_at = case when t.paused is not null and p_status = 'e' then 'infinity' else p_now end,
            reason = case when t.paused is not null and p_status = 'e' then coalesce(case when t.place = 'w' then t.reason end, 'operator') end,
            paused = case when p_status = 'e' then t.paused end,
            session_id = null, request = null, started = false, fence = t.fence + 1,
            rolling_back = true, recorded = true, retries = null, woken = false,
            -- The fence of the claim whose item ends the run. 1. A claim is lost, and the engine ends its run with a raised p_task.fence.
            -- 2. The worker of that claim sends a late item. With a fence here the item would answer "already", as if it had started the
            -- rollback.
            -- guard:rollback_fence
            ending = json_build_object('status', pawl._state_name(p_status), 'error', p_error, 'at', p_now,
                'fence', case when t.fence = p_task.fence then t.fence end)
        where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
        perform pawl._audit(p_task.run_id, 0, p_task.kept, p_now, 'rollback_started', p_error);
        perform pawl._wake_one(p_task.queue_id, p_task.tenant, p_now);
        return 'ok';
    end if;
    return pawl._end_run(p_task, p_status, null, p_error, p_now);
end
$$;
comment on function pawl._end_or_roll_back(pawl_data.task, "char", json, boolean, timestamptz) is 'ends a run, or starts its rollback if it has undos';

