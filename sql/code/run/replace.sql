-- SPDX-License-Identifier: Apache-2.0
-- Triggers with replace or debounce: the last input of a key counts. A run that no worker has claimed gets the new input; otherwise the key
-- passes to a new run.

create or replace function pawl._check_key_use(
    p_key text, p_delay interval, p_key_ttl interval, p_while_active boolean, p_replace boolean, p_debounce interval, p_debounce_max interval,
    p_flow boolean)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_key_ttl <= interval '0' or p_key_ttl > interval '1000 years' or p_key_ttl is not null and p_while_active then
        -- guard:key_ttl_range
        perform pawl._raise('PW003', 'a key has one lifetime: key_ttl, more than 0 and at most 1000 years, or key_while_active');
    end if;
    if p_replace is not true and p_debounce is null and p_debounce_max is null then
        return;
    end if;
    if p_key is null then
        -- guard:replace_key
        perform pawl._raise('PW003', 'replace and debounce need a key', 'Runs with the same key replace each other.');
    end if;
    if p_key_ttl is not null or p_while_active then
        -- 1. A call has replaced the input of a run, which is executed; the reply of the call was lost. 2. The key is freed. 3. The call is sent
        -- again. It would make a second run.
        -- guard:replace_key_lifetime
        perform pawl._raise('PW003', 'with replace or debounce a key has neither key_ttl nor key_while_active', 'A run that has ended is not replaced: the next trigger makes another.');
    end if;
    if p_debounce <= interval '0' or p_debounce > interval '10 years' or p_debounce_max < p_debounce or p_debounce_max > interval '10 years'
       or p_debounce is null and p_debounce_max is not null then
        -- guard:debounce_range
        perform pawl._raise('PW003', 'debounce must be more than 0 and at most ten years, and debounce_max not less than debounce');
    end if;
    if p_debounce is not null and p_delay is not null then
        -- guard:debounce_delay
        perform pawl._raise('PW003', 'debounce and delay do not go together', 'debounce is the delay.');
    end if;
    if p_debounce is not null and p_flow then
        -- The first tasks of a flow are made of its input when it is triggered.
        -- guard:debounce_flow
        perform pawl._raise('PW003', 'a flow cannot be debounced', 'Debounce a workflow that starts the flow as its child.');
    end if;
end
$$;
comment on function pawl._check_key_use(text, interval, interval, boolean, boolean, interval, interval, boolean) is 'refuses options of a trigger that do not go with its key';

-- Locks and returns the row of a key, or makes it for p_id. Then it returns a row of nulls.
create or replace function pawl._lock_key(p_workflow int, p_tenant text, p_key text, p_digest bytea, p_id uuid)
returns pawl_data.key
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_key pawl_data.key;
    v_made int;
begin
    for v_try in 1..20 loop
        insert into pawl_data.key (workflow_id, run_id, tenant, key, digest, last_id)
        values (p_workflow, p_id, p_tenant, p_key, p_digest, p_id)
        on conflict on constraint key_pkey do nothing;
        get diagnostics v_made = row_count;
        if v_made = 1 then
            return null;
        end if;
        -- 1. A run has a key while it is active. 2. A locks the row of the key here, and stays in its transaction. 3. The worker of that run
        -- ends it, and would wait for A to free the key. So such a key is refused before it is locked. No other end of a run frees a key.
        -- guard:replace_active_key
        if exists (
            select from pawl_data.key k
            where k.tenant = p_tenant and k.workflow_id = p_workflow and k.key = p_key and k.expires_at = 'infinity') then
            perform pawl._raise('PW004', format('key "%s" was used with key_while_active', p_key), 'Use another key for replace or debounce.');
        end if;
        -- Triggers of one key take turns: each sees what the one before it did.
        -- guard:replace_lock
        select k.* into v_key
        from pawl_data.key k
        where k.tenant = p_tenant and k.workflow_id = p_workflow and k.key = p_key and k.expires_at is distinct from 'infinity'
        for update;
        if found then
            return v_key;
        end if;
    end loop;
    perform pawl._raise('PW010', format('key "%s" is contended: 20 attempts to take it failed', p_key), 'Retry the call.');
    return null;
end
$$;
comment on function pawl._lock_key(int, text, text, bytea, uuid) is 'locks or makes the row of a key for a trigger that may replace an input';

-- Whether a run that no worker has claimed (task 0, locked by the caller) can still get another input: none of its time limits has passed.
create or replace function pawl._is_replaceable(p_task pawl_data.task, p_now timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:replace_unexpired
    return not exists (
        select from pawl_data.wait w
        where w.run_id = p_task.run_id and w.task_no = 0 and w.kind::text = 'l' and (w.due_at <= p_now or w.seq > 0));
end
$$;
comment on function pawl._is_replaceable(pawl_data.task, timestamptz) is 'whether a run can still get another input';

-- Gives a run (task 0, locked by the caller) another input, and metadata. p_due: when it starts now; null: as before. Its time limits begin again.
create or replace function pawl._replace_input(
    p_task pawl_data.task, p_now timestamptz, p_input json, p_metadata json, p_due timestamptz, p_timeout interval, p_expires interval)
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
    v_apart boolean := octet_length(p_input::text) > 2000;
    v_limits boolean := p_timeout is not null or p_expires is not null;
    v_later boolean := coalesce(p_due > p_now, false);
begin
    -- guard:replace_large
    if p_task.input_apart then
        delete from pawl_data.input i where i.run_id = p_task.run_id;
        delete from pawl_data.input_kept i where i.run_id = p_task.run_id;
    end if;
    if v_apart and p_task.kept then
        insert into pawl_data.input_kept (run_id, input) values (p_task.run_id, p_input);
    elsif v_apart then
        perform pawl._need_partitions(array[p_task.run_id], array['input']);
        insert into pawl_data.input (run_id, input) values (p_task.run_id, p_input);
    end if;
    if v_later and p_task.place = 'l' then
        -- guard:debounce_leaves_lane
        perform pawl._leave_lane(p_task, p_now, false);
    end if;
    update pawl_data.task t
    set input = case when not v_apart then p_input end, input_apart = v_apart, metadata = p_metadata, attached = t.attached or v_limits,
        place = case when v_later then 'w' else t.place end,
        due_at = case when t.paused is null and (v_later or p_due is not null and t.place = 'w') then greatest(p_due, p_now) else t.due_at end,
        reason = case when v_later and t.paused is null then 'delay' else t.reason end,
        -- An operator's pause stays; the run starts at its time when it is resumed.
        -- guard:debounce_paused
        paused = case when t.paused is not null and p_due is not null
                      then (t.paused::jsonb || jsonb_build_object('due', p_due, 'reason', 'delay'))::json else t.paused end,
        woken = t.woken and not (t.paused is not null and v_later)
    where t.run_id = p_task.run_id and t.task_no = 0;
    if p_task.attached then
        delete from pawl_data.wait w
        where w.run_id = p_task.run_id and w.task_no = 0 and w.kind::text = 'l' and w.name in ('timeout', 'expires');
    end if;
    if v_limits then
        perform pawl._limit_runs(array[p_task.run_id], p_task.tenant, p_now,
            greatest(p_now, coalesce(p_due, case when p_task.paused is null then p_task.due_at else (p_task.paused ->> 'due')::timestamptz end)), p_timeout, p_expires);
    end if;
end
$$;
comment on function pawl._replace_input(pawl_data.task, timestamptz, json, json, timestamptz, interval, interval) is 'gives a run that no worker has claimed another input';

-- Decides about a trigger with replace or debounce. run: the run that has the key now. created is false if that run was there before; otherwise
-- it is p_id, and the caller inserts it.
create or replace function pawl._take_over_key(
    p_now timestamptz, p_workflow int, p_queue int, p_tenant text, p_key text, p_id uuid, p_resent boolean, p_bound boolean,
    p_input json, p_metadata json, p_timeout interval, p_expires interval, p_replace boolean, p_debounce interval, p_debounce_max interval,
    out run uuid, out created boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_digest bytea := sha256(convert_to(p_input::text, 'UTF8'));
    v_key pawl_data.key := pawl._lock_key(p_workflow, p_tenant, p_key, v_digest, p_id);
    v_task pawl_data.task;
begin
    run := p_id;
    if v_key.run_id is null then
        return;
    end if;
    -- A call that is sent again. 1. A, with input 1, replaces the input of a run; its reply is lost. 2. A worker executes the run. 3. A is sent
    -- again. Without the test input 1 would be executed twice. The same holds if B has replaced input 1 since.
    -- guard:replace_resent
    if p_resent and (p_id <= greatest(v_key.run_id, v_key.last_id) or pawl._has_key(p_id, p_queue, p_key)) then
        created := false;
        if p_bound then
            perform pawl._check_own(array[p_id], p_tenant);
        end if;
        run := case when pawl._has_key(p_id, p_queue, p_key) then p_id else v_key.run_id end;
        return;
    end if;
    -- 1. A claims the run, and stays in its transaction. 2. B, this call, does not wait for A: the key passes to a new run. A run of a flow has
    -- made its first tasks of its input.
    select t.* into v_task
    from pawl_data.task t
    where t.run_id = v_key.run_id and t.task_no = 0 and t.place::text in ('r', 'l', 'w') and t.round = 1 and t.ending is null
      -- 1. A worker holds the run. 2. This call stays in its transaction. If it locked the run, the commits of the worker would be busy.
      -- guard:replace_unclaimed
      and t.claimed_at is null
    -- guard:replace_skip_locked
    for update skip locked;
    if found and pawl._is_replaceable(v_task, p_now) then
        perform pawl._replace_input(v_task, p_now, p_input, p_metadata,
            least(pawl._shift(p_now, p_debounce), pawl._shift(v_task.triggered_at, p_debounce_max)), p_timeout, p_expires);
        update pawl_data.key k
        set digest = v_digest, expires_at = null, last_id = greatest(k.last_id, k.run_id, p_id)
        where k.tenant = p_tenant and k.workflow_id = p_workflow and k.key = p_key;
        run := v_key.run_id;
        created := false;
        return;
    end if;
    if p_replace then
        perform pawl._cancel_soon(v_key.run_id, p_tenant, p_now, 'a trigger with its key has replaced it');
    end if;
    update pawl_data.key k
    set run_id = p_id, digest = v_digest, expires_at = null, last_id = greatest(k.last_id, k.run_id, p_id)
    where k.tenant = p_tenant and k.workflow_id = p_workflow and k.key = p_key;
end
$$;
comment on function pawl._take_over_key(timestamptz, int, int, text, text, uuid, boolean, boolean, json, json, interval, interval, boolean, interval, interval) is 'what becomes of a trigger with replace or debounce';
