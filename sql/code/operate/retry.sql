-- SPDX-License-Identifier: Apache-2.0
-- Retry, and the two verbs for a rollback that is stuck.

create or replace function pawl._retry_runs(p_runs uuid[], p_by text)
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
    -- Opened in the order of the keys that they take again, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl._write_time();
begin
    for run_id, v_n in select o.run_id, o.item from pawl._order_of_rounds(p_runs) o loop
        answer := pawl._open_round(run_id, v_now, p_by, false);
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(p_runs, v_answers) u (r, a);
end
$$;
comment on function pawl._retry_runs(uuid[], text) is 'retry, of callers whose right was checked';

create or replace function pawl.retry(runs uuid[], by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('retry', runs);
    return query select a.* from pawl._retry_runs(runs, pawl._by(by)) a;
end
$$;
comment on function pawl.retry(uuid[], text) is
'Opens the next round of runs that ended ERROR or CANCELLED: the same run continues; its SUCCESS records stay valid, final failures count only in the round that wrote them. Answers ok, already (it runs), refused (it ended SUCCESS, or an undo has run: use fork; or another run has its key), busy, not_found. The run takes again a key that was freed at its end (key_while_active).
If repeated: answers already.
Locks: the row of each run in history, skipping locked ones; the row of a key that it takes again; it waits for another transaction that takes or frees that key.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 a key changed hands too fast: send it again.
Limits: 1,000 runs.';

-- Returns runs, each with its place in the list, in the order in which their next rounds are opened. First come the runs that take a key
-- again, in the order in which trigger_many takes keys, so that two callers do not deadlock. The remaining runs follow by their ids.
create or replace function pawl._order_of_rounds(p_runs uuid[])
returns table (run_id uuid, item bigint)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select u.r, u.n
    from unnest(p_runs) with ordinality u (r, n)
    left join (
        select distinct on (r.run_id) r.run_id, r.key_freed, r.key, r.queue_id, r.tenant
        from pawl._runs(p_runs) r
        order by r.run_id, r.round desc
    ) l on l.run_id = u.r and l.key_freed
    -- guard:retry_key_order
    order by l.key, l.queue_id, l.tenant, u.r, u.n;
end
$$;
comment on function pawl._order_of_rounds(uuid[]) is 'runs in the order in which their next rounds are opened';

-- Makes an ended run a living one again. With p_rollback the new round only rolls back.
create or replace function pawl._open_round(p_run uuid, p_now timestamptz, p_by text, p_rollback boolean)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl_data.run;
    v_first pawl_data.run;
    v_bound text := pawl._bound_tenant(null);
    v_kept boolean;
    v_timeout interval;
    v_flow boolean;
    v_workflow int;
    v_made int;
begin
    -- Checked before the lock as well: the commit that ends a later round of the run may move the row that would be locked.
    if exists (select from pawl_data.task t where t.run_id = p_run and (v_bound is null or t.tenant = v_bound)) then
        return 'already';
    end if;
    -- Two retries of one run take turns; purge and fork take the same lock.
    -- guard:retry_lock
    if not pawl._hold_ended(p_run, v_bound) then
        return 'busy';
    end if;
    if exists (select from pawl_data.task t where t.run_id = p_run and (v_bound is null or t.tenant = v_bound)) then
        return 'already';
    end if;
    v_run := pawl._last_run(p_run);
    if v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant) then
        return 'not_found';
    end if;
    -- Checked after the lock: when the call came, the run may not have ended yet, and it can have ended since without a rollback.
    if p_rollback and v_run.error ->> 'code' is distinct from 'rollback_failed' then
        return 'refused';
    end if;
    -- guard:retry_status
    if v_run.status = 's' or (not p_rollback and pawl._was_undone(p_run)) then
        return 'refused';
    end if;
    select r.* into v_first from pawl._runs(array[p_run]) r where r.round = 1;
    v_kept := exists (select from pawl_data.run_kept k where k.run_id = p_run);
    -- The key may have been freed, and a living run may have taken it: then two runs would have the key.
    if v_run.key is not null and not v_run.key_freed and exists (
        select from pawl_data.key k
        join pawl_data.queue q on q.workflow_id = k.workflow_id
        where q.queue_id = v_run.queue_id and k.tenant = v_run.tenant and k.key = v_run.key and k.run_id <> p_run
          and pawl._lives(k.run_id)) then
        return 'refused';
    end if;
    select w.run_timeout, w.flow, w.workflow_id into v_timeout, v_flow, v_workflow
    from pawl_data.queue q join pawl_data.workflow w on w.workflow_id = q.workflow_id where q.queue_id = v_run.queue_id;
    -- Ahead of the task, in the order of trigger(), so that the two calls do not deadlock.
    -- guard:retry_takes_key
    if v_run.key_freed and not pawl._take_key_again(v_run, v_first.input, v_workflow, p_now) then
        return 'refused';
    end if;
    insert into pawl_data.task (run_id, task_no, queue_id, place, priority, round, fence, execution, recorded, attached, undo,
                           rolling_back, kept, input_apart, due_at, triggered_at, started_at, tenant, limit_key, key, parent_id, input,
                           metadata, version, ending)
    values (p_run, 0, v_run.queue_id, case when v_flow and not p_rollback then 'o' else 'r' end, v_run.priority, v_run.round + 1, v_run.fence + 1, v_run.execution, true,
            v_timeout is not null or v_run.key_freed,
            exists (select from pawl._steps(array[p_run]) s where s.undo is not null) or v_flow and exists (
                select from pawl_data.flow_step f where f.workflow_id = v_workflow and f.undo is not null), p_rollback, v_kept,
            v_run.input_apart, p_now, v_run.triggered_at, v_run.started_at, v_run.tenant, v_run.limit_key, v_run.key,
            v_run.parent_id, v_first.input, v_run.metadata, v_run.version,
            case when p_rollback then json_build_object('status', coalesce(v_run.error ->> 'status', pawl._state_name(v_run.status)), 'error',
                coalesce(v_run.error -> 'cause', v_run.error), 'at', p_now) end)
    on conflict on constraint task_pkey do nothing;
    get diagnostics v_made = row_count;
    if v_made = 0 then
        if v_run.key_freed then
            delete from pawl_data.key k
            where k.tenant = v_run.tenant and k.workflow_id = v_workflow and k.key = v_run.key and k.run_id = p_run;
        end if;
        return 'already';
    end if;
    -- 1. A trigger with replace has asked housekeeping to cancel the run. 2. The run ends before that. 3. It is retried. Without this its new
    -- round would be cancelled.
    -- guard:retry_forgets_cancel
    delete from pawl_data.wait w where w.run_id = p_run and w.kind::text = 'l';
    if v_timeout is not null and not p_rollback then
        insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, created_at, due_at)
        values (p_run, 0, 'timeout', 'l', 0, v_run.tenant, p_now, pawl._shift(p_now, v_timeout))
        on conflict on constraint wait_pkey do nothing;
    end if;
    perform pawl._audit(p_run, 0, v_kept, p_now, case when p_rollback then 'rollback_retry' else 'retry' end,
        json_build_object('round', v_run.round + 1), p_by);
    if v_flow and not p_rollback then
        perform pawl._reopen_flow(p_run, v_workflow, p_now);
    end if;
    perform pawl._wake_one(v_run.queue_id, v_run.tenant, p_now);
    return 'ok';
end
$$;
comment on function pawl._open_round(uuid, timestamptz, text, boolean) is 'opens the next round of an ended run';

-- Takes a key that the end of the run freed for the run again, with the input of the run. Returns false if another run has the key.
create or replace function pawl._take_key_again(p_run pawl_data.run, p_input json, p_workflow int, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_input json := case when p_run.input_apart then pawl._input_of(p_run.run_id) else p_input end;
begin
    return p_run.run_id = (
        select h.run_id
        from pawl._hold_key(p_now, p_workflow, p_run.tenant, p_run.key, sha256(convert_to(v_input::text, 'UTF8')), p_run.run_id, 'infinity') h);
end
$$;
comment on function pawl._take_key_again(pawl_data.run, json, int, timestamptz) is 'takes the key of an ended run for its next round';

create or replace function pawl.rollback_retry(runs uuid[], by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Opened in the order of the keys that they take again, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl._write_time();
begin
    perform pawl._check_ids('rollback_retry', runs);
    for run_id, v_n in select o.run_id, o.item from pawl._order_of_rounds(runs) o loop
        answer := pawl._open_round(run_id, v_now, pawl._by(by), true);
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(runs, v_answers) u (r, a);
end
$$;
comment on function pawl.rollback_retry(uuid[], text) is
'Opens a round that only rolls back, for runs whose rollback stopped at a failing undo. Answers ok, already, refused (no rollback is stuck, or another run has its key), busy, not_found.
If repeated: answers already.
Locks: as retry.
Errors: PW008 isolation level, PW009 more than 1,000 ids, PW010 a key changed hands too fast: send it again.
Limits: 1,000 runs.';

create or replace function pawl.rollback_skip(run uuid, step text, why text default null, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl._write_time();
    v_answer text;
    v_run pawl_data.run;
    v_task pawl_data.task;
begin
    perform pawl._check_ids('rollback_skip', array[run]);
    if pawl._not_grabbed(run) = 'not_found' then
        return 'not_found';
    end if;
    v_run := pawl._last_run(run);
    if v_run.error ->> 'code' is distinct from 'rollback_failed'
       or not exists (
           select from pawl._steps(array[run]) s
           where s.undo is not null and pawl._undo_name(v_run.queue_id, s.name, s.task_no) = rollback_skip.step) then
        return 'refused';
    end if;
    v_answer := pawl._open_round(run, v_now, pawl._by(by), true);
    if v_answer <> 'ok' then
        return v_answer;
    end if;
    select t.* into v_task from pawl_data.task t where t.run_id = run and t.task_no = 0;
    perform pawl._record(v_task, 'rollback:' || step, 's', 'k', null, null, json_build_object('why', why), v_now);
    perform pawl._audit(run, 0, v_task.kept, v_now, 'rollback_skip', json_build_object('step', step, 'why', why),
        pawl._by(by));
    return 'ok';
end
$$;
comment on function pawl.rollback_skip(uuid, text, text, text) is
'Marks the undo of one step as skipped and opens a round that rolls back the rest. For runs whose rollback stopped at a failing undo. Answers ok, already, refused, busy, not_found.
If repeated: answers already, or refused after that round has ended well.
Locks: as retry.
Errors: PW008 isolation level, PW010 a key changed hands too fast: send it again.
Limits: the cost is constant.';
