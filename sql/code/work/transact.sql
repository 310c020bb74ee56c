-- SPDX-License-Identifier: Apache-2.0
-- The transactional step: recorded by the caller, in the caller's own transaction, with any driver.

create or replace function pawl.step_token(session bigint, run uuid, fence int, step text, seq int default null, task int default 0)
returns text
language plpgsql
immutable
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return concat_ws(' ', 'pawl1', run, task, session, fence, coalesce(seq::text, '-'), pawl._full_name(step));
end
$$;
comment on function pawl.step_token(bigint, uuid, int, text, int, int) is
'Returns the token with which a step can be recorded in another transaction: plain text for any language. It names the claim (session and fence) and the step''s identity (a bare name stands for NAME#1); it is invalid after the fence has been raised. It is not a secret: only roles that may call record_step can use it.
If repeated: returns the same token.
Locks: none.
Errors: none.
Limits: the cost is constant.';

create or replace function pawl.record_step(token text, output json default 'null')
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
    v_part text[] := string_to_array(token, ' ');
    v_now timestamptz := pawl.now();
    v_task pawl_data.task;
    v_bound text := pawl._bound_tenant('record_step');
    v_problem text;
    v_answer text;
begin
    if cardinality(v_part) is distinct from 7 or v_part[1] <> 'pawl1' or v_part[2] !~ '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
       or v_part[3] !~ '^([0-9]{1,9}|1[0-9]{9}|20[0-9]{8})$' or v_part[4] !~ '^[0-9]{1,18}$'
       or v_part[5] !~ '^([0-9]{1,9}|1[0-9]{9}|20[0-9]{8})$'
       or v_part[6] !~ '^(-|[0-9]{1,9})$' then
        -- guard:token_form
        perform pawl._raise('PW003', 'malformed step token', 'Pass the token as the worker returned it.');
    end if;
    -- An update, not only a lock: above read committed it fails if the row has changed since the snapshot.
    update pawl_data.task t
    set recorded = true
    where t.run_id = v_part[2]::uuid and t.task_no = v_part[3]::int and (v_bound is null or t.tenant = v_bound)
    returning t.* into v_task;
    -- guard:token_fence
    if v_task.run_id is null or v_task.session_id is distinct from v_part[4]::bigint or v_task.fence <> v_part[5]::int then
        perform pawl._raise('PW005', 'the run was given to another claim, or has ended',
            'Roll back: the worker that holds the run now executes this step.');
    end if;
    if not v_task.kept then
        perform pawl._need_partitions(array[v_task.run_id], array['step']);
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        -- The snapshot may be older than the epoch, and the row of the task does not show that: this lock then fails, too.
        -- guard:token_epoch_snapshot
        perform from pawl_data.epoch_lock e where e.only_row for share;
    end if;
    -- guard:token_epoch
    if v_part[4]::bigint >> 32 <> pawl._epoch() then
        perform pawl._raise('PW012', 'the token belongs to an older epoch', 'Roll back.');
    end if;
    -- The same rule as in _commit_item(): a flow that has failed still records results of its tasks.
    -- guard:token_cancel
    if v_task.ending is not null and not v_task.rolling_back and (v_task.task_no = 0 or v_task.ending ->> 'status' = 'CANCELLED') then
        perform pawl._raise('PW006', 'the run was cancelled', 'Roll back.');
    end if;
    v_problem := pawl._item_problem(v_task, 'step', v_part[7], output::text, null, nullif(v_part[6], '-')::int);
    if v_problem is not null then
        perform pawl._raise('PW003', v_problem);
    end if;
    v_answer := (
        select c.answer
        from pawl._commit_step(v_task, v_now, 'step', v_part[7], output::text, nullif(v_part[6], '-')::int, 0, null) c);
    if v_answer = 'refused' then
        -- guard:token_name
        perform pawl._raise('PW007', format('"%s" is the name of something else in this run', v_part[7]),
            'Roll back, and give the step another name.');
    end if;
    return v_answer;
end
$$;
comment on function pawl.record_step(text, json) is
'Records a step under its fence in the caller''s own transaction, so that the step''s effects on this database and its record commit together or not at all. Answers ok; or already when the step is recorded: then roll back, so that its effects do not happen a second time. If the run was cancelled or another worker holds it, it raises an error, which ends the caller''s transaction.
If repeated: answers already.
Locks: the row of the run, until the caller commits; until then commits of that run answer busy; other runs continue.
Errors: PW003 malformed token or payload, PW005 lease lost, PW006 cancelled, PW007 the name is that of a wait or a child, PW010 another transaction is making a partition that it needs: send it again, PW012 older epoch; 40001 above read committed, or 23505 when the step was recorded since the snapshot.
Limits: the cost is constant.';
