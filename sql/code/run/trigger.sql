-- SPDX-License-Identifier: Apache-2.0
-- Triggering: the durable intent that a run should happen, one or many.

-- Inserts the one row of a new run, and for a flow (p_flow, its workflow) its first tasks, too. The caller has decided everything. Returns
-- false if the client made the id (p_given) and it exists already. No other id can exist, so only these pay for the more expensive insert.
create or replace function pawl._insert_run(
    p_now timestamptz, p_queue int, p_timeout interval, p_flow int, p_id uuid, p_given boolean, p_input json, p_tenant text,
    p_priority int, p_delay interval, p_metadata json, p_key text, p_limit_key text, p_parent uuid, p_parent_step text,
    p_parent_task int, p_attached boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_apart boolean := octet_length(p_input::text) > 2000;
    v_timeout boolean := p_timeout is not null;
    v_place "char" := case when p_flow is not null then 'o' when p_delay > interval '0' then 'w' else 'r' end;
    v_due timestamptz := case when p_delay > interval '0' then pawl._shift(p_now, p_delay) else p_now end;
    v_reason text := case when p_delay > interval '0' and p_flow is null then 'delay' end;
    v_undo boolean := p_flow is not null and exists (
        select from pawl_data.flow_step s where s.workflow_id = p_flow and s.undo is not null);
    v_input json := case when not v_apart then p_input end;
    v_made int := 1;
begin
    if p_given then
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, input_apart, attached, undo, reason, due_at,
                               triggered_at, tenant, limit_key, key, parent_id, parent_step, parent_task, input, metadata)
        values (p_id, 0, p_queue, v_place, p_priority, v_apart, v_timeout or p_attached, v_undo, v_reason, v_due, p_now,
                p_tenant, p_limit_key, p_key, p_parent, p_parent_step, p_parent_task, v_input, p_metadata)
        on conflict on constraint task_pkey do nothing;
        get diagnostics v_made = row_count;
    else
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, input_apart, attached, undo, reason, due_at,
                               triggered_at, tenant, limit_key, key, parent_id, parent_step, parent_task, input, metadata)
        values (p_id, 0, p_queue, v_place, p_priority, v_apart, v_timeout or p_attached, v_undo, v_reason, v_due, p_now,
                p_tenant, p_limit_key, p_key, p_parent, p_parent_step, p_parent_task, v_input, p_metadata);
    end if;
    -- The run of a given id may have ended and left the hot set before the insert. So a later statement looks for it in history.
    if v_made = 1 and p_given and pawl._id_is_used(p_id) then
        delete from pawl_data.task t where t.run_id = p_id and t.task_no = 0;
        v_made := 0;
    end if;
    if v_made = 0 then
        return false;
    end if;
    if v_apart then
        perform pawl._need_partitions(array[p_id], array['input']);
        insert into pawl_data.input (run_id, input) values (p_id, p_input);
    end if;
    if v_timeout then
        insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, created_at, due_at)
        values (p_id, 0, 'timeout', 'l', 0, p_tenant, p_now, pawl._shift(v_due, p_timeout));
    end if;
    if p_flow is not null then
        perform pawl._open_flows(array[p_id], p_flow, p_now, p_delay);
    end if;
    return true;
end
$$;
comment on function pawl._insert_run(timestamptz, int, interval, int, uuid, boolean, json, text, int, interval, json, text, text, uuid, text, int, boolean) is 'inserts the hot row of a new run; false if there is one already';

create or replace function pawl._workflow(p_name text)
returns pawl_data.workflow
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow;
begin
    select w.* into v_workflow from pawl_data.workflow w where w.name = p_name;
    if not found then
        perform pawl._raise('PW002', format('unknown workflow "%s"', p_name),
            'Create it first: select pawl.create_workflow(name).');
    end if;
    return v_workflow;
end
$$;
comment on function pawl._workflow(text) is 'the row of a workflow, or an error';

create or replace function pawl._check_trigger(p_key text, p_priority int, p_delay interval, p_limit_key text)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if length(p_key) not between 1 and 500 or octet_length(p_key) > 1000 then
        -- guard:key_max
        perform pawl._raise('PW003', 'key must have 1 to 500 characters and at most 1000 bytes');
    end if;
    if p_priority not between 0 and 32767 then
        -- guard:priority_range
        perform pawl._raise('PW003', 'priority must be between 0 and 32767');
    end if;
    if p_delay is not null then
        perform pawl._check_finite(p_delay, 'delay');
    end if;
    if p_delay > interval '10 years' then
        -- guard:delay_max
        perform pawl._raise('PW003', 'delay must be at most ten years');
    end if;
    if length(p_limit_key) > 500 then
        -- guard:limit_key_max
        perform pawl._raise('PW003', 'limit_key must have at most 500 characters');
    end if;
end
$$;
comment on function pawl._check_trigger(text, int, interval, text) is 'refuses options of a trigger that are out of range';

create or replace function pawl._check_own(p_ids uuid[], p_tenant text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_used uuid;
begin
    v_used := coalesce(
        (select t.run_id from pawl_data.task t where t.run_id = any (p_ids) and t.tenant <> p_tenant limit 1),
        (select r.run_id from pawl._runs(p_ids) r where r.tenant <> p_tenant limit 1));
    if v_used is not null then
        -- The message does not reveal that the run is another tenant's.
        perform pawl._raise('PW001', format('run id "%s" is already in use', v_used), 'Make ids with pawl.make_id().');
    end if;
end
$$;
comment on function pawl._check_own(uuid[], text) is 'refuses ids of runs of another tenant';

-- Decides about a trigger whose key exists. run: the run that has the key, or p_id if it takes the key. created is false if the key stands
-- for another run, and taken shows whether p_id has the key now.
create or replace function pawl._meet_key(
    p_now timestamptz, p_workflow int, p_queue int, p_tenant text, p_key text, p_digest bytea, p_id uuid, p_given boolean, p_expires timestamptz,
    p_bound boolean, out run uuid, out created boolean, out taken boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_holder uuid;
    v_same boolean;
begin
    run := p_id;
    select k.run_id, k.taken, k.same_input into v_holder, taken, v_same
    from pawl._hold_key(p_now, p_workflow, p_tenant, p_key, p_digest, p_id, p_expires) k;
    -- guard:key_of_another
    if v_holder <> p_id and p_given and pawl._has_key(p_id, p_queue, p_key) then
        -- A repeated call: its run has freed the key since, and another run has it now.
        created := false;
        if p_bound then
            perform pawl._check_own(array[p_id], p_tenant);
        end if;
    elsif not v_same then
        -- guard:key_input
        perform pawl._raise('PW004', format('key "%s" was used with another input', p_key),
            format('Run %s has the key. Use another key for another input.', v_holder));
    else
        created := v_holder = p_id;
        run := v_holder;
    end if;
end
$$;
comment on function pawl._meet_key(timestamptz, int, int, text, text, bytea, uuid, boolean, timestamptz, boolean) is 'what becomes of a trigger whose key is there already';

-- Inserts a run that is not plain: it has a given id, a delay, a time limit, a flow, key_while_active, or a large input. Returns false if
-- the run exists already.
create or replace function pawl._insert_other(
    p_now timestamptz, p_workflow int, p_queue int, p_timeout interval, p_flow boolean, p_bound boolean, p_id uuid, p_given boolean, p_input json,
    p_tenant text, p_priority int, p_delay interval, p_metadata json, p_key text, p_limit_key text, p_key_while_active boolean, p_taken boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_created boolean;
begin
    v_created := pawl._insert_run(p_now, p_queue, p_timeout, case when p_flow then p_workflow end, p_id, p_given, p_input, p_tenant,
        p_priority, p_delay, p_metadata, p_key, p_limit_key, null, null, null, p_key is not null and p_key_while_active);
    if not v_created and p_key is not null and not pawl._has_key(p_id, p_queue, p_key) then
        -- guard:id_without_key
        perform pawl._raise('PW004', format('id "%s" belongs to a run without this key', p_id), 'Make another id.');
    end if;
    if not v_created and p_key is not null and p_taken then
        -- A repeated call: its run has freed the key since, and has ended, so no end would free the key again.
        delete from pawl_data.key k
        where k.tenant = p_tenant and k.workflow_id = p_workflow and k.key = p_key;
    end if;
    if not v_created and p_bound then
        perform pawl._check_own(array[p_id], p_tenant);
    end if;
    return v_created;
end
$$;
comment on function pawl._insert_other(timestamptz, int, int, interval, boolean, boolean, uuid, boolean, json, text, int, interval, json, text, text, boolean, boolean) is 'inserts a run that is not plain';

create or replace function pawl.trigger(
    workflow text, input json default '{}', key text default null, tenant text default '', priority int default null,
    delay interval default null, metadata json default null, id uuid default null, key_ttl interval default null,
    key_while_active boolean default false, limit_key text default null)
returns table (run_id uuid, created boolean, handled boolean)
language plpgsql
volatile
security definer
-- guard:search_path
set search_path to pg_catalog, pg_temp
-- For the look at live sessions: by the index, whatever statistics say.
set enable_sort to off
as $$
declare
    v_now timestamptz := pawl.now();
    v_hex text := lpad(to_hex((date_part('epoch', v_now) * 1000)::bigint), 12, '0');
    v_input text := input::text;
    v_workflow int;
    v_queue int;
    v_priority int;
    v_timeout interval;
    v_flow boolean;
    v_bound boolean;
    v_idle bigint;
    v_digest bytea;
    v_expires timestamptz;
    v_made int;
    v_taken boolean := true;
begin
    -- Few statements and few calls: usual values are tested in line, and functions are called only for other values.
    select w.workflow_id, w.queue_id, w.priority::int, w.run_timeout, w.flow,
           s.tenants_bound,
           -- An idle worker that handles the queue, to be notified; and whether any live one does.
           (select k.session_id from pawl_data.worker k
            where k.idle and k.ended_at is null and k.lease_until > v_now
              and exists (select from pawl_data.worker_queue h where h.queue_id = w.queue_id and h.session_id = k.session_id offset 0)
            limit 1),
           -- This is _is_handled() without the call.
           (select true from pawl_data.worker_queue h
            cross join lateral (select from pawl_data.worker k
                                where k.session_id = h.session_id and k.ended_at is null and k.lease_until > v_now offset 0) k
            where h.queue_id = w.queue_id order by h.session_id desc limit 1) is true
    into v_workflow, v_queue, v_priority, v_timeout, v_flow, v_bound, v_idle, handled
    from pawl_data.workflow w
    cross join pawl_data.setting s
    where w.name = trigger.workflow and s.only_row;
    if not found then
        perform pawl._raise('PW002', format('unknown workflow "%s"', workflow),
            'Create it first: select pawl.create_workflow(name).');
    end if;
    if v_flow then
        perform pawl._check_flow(v_workflow);
    end if;
    if v_bound or tenant is null or tenant <> '' then
        tenant := pawl._tenant(tenant);
    end if;
    if v_bound and not v_flow then
        -- A worker may be bound, too, and to another tenant than the call's, which is known only now.
        -- guard:trigger_wake_bound
        handled := pawl._wake_one(v_queue, tenant, v_now);
        v_idle := null;
    end if;
    if v_input is null or octet_length(v_input) > 2000
       or octet_length(v_input) - octet_length(replace(replace(v_input, '{', ''), '[', '')) > 64 then
        perform pawl._check_payload(v_input);
    end if;
    if metadata is not null then
        perform pawl._check_payload(metadata::text);
    end if;
    if priority is not null or delay is not null or limit_key is not null or length(key) not between 1 and 500
       or octet_length(key) > 1000 then
        perform pawl._check_trigger(key, priority, delay, limit_key);
    end if;
    if key_ttl is not null and (key_ttl <= interval '0' or key_ttl > interval '1000 years' or key_while_active) then
        -- guard:key_ttl_range
        perform pawl._raise('PW003', 'a key has one lifetime: key_ttl, more than 0 and at most 1000 years, or key_while_active');
    end if;
    if id is not null then
        perform pawl._id_check(id, v_now);
        run_id := id;
    elsif key is not null then
        run_id := pawl._id_make(v_now, pawl._key_slot(tenant, workflow, key));
    else
        run_id := (v_hex || '7' || substr(gen_random_uuid()::text, 16))::uuid;
    end if;
    if key is not null then
        -- The first attempt of _hold_key(), without the call. If the key exists, _meet_key() decides.
        v_digest := sha256(convert_to(v_input, 'UTF8'));
        v_expires := case when key_while_active then 'infinity' when key_ttl is not null then pawl._shift(v_now, key_ttl) end;
        insert into pawl_data.key (workflow_id, expires_at, run_id, tenant, key, digest)
        values (v_workflow, v_expires, trigger.run_id, trigger.tenant, trigger.key, v_digest)
        on conflict on constraint key_pkey do nothing;
        get diagnostics v_made = row_count;
        if v_made = 0 then
            select h.run, h.created, h.taken into trigger.run_id, trigger.created, v_taken
            from pawl._meet_key(v_now, v_workflow, v_queue, tenant, key, v_digest, trigger.run_id, id is not null, v_expires, v_bound) h;
        end if;
    end if;
    if created is not false and id is null and delay is null and v_timeout is null and not v_flow and not key_while_active
       and octet_length(v_input) <= 2000 then
        -- The plain case of _insert_run, without the call.
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, due_at, triggered_at, tenant, limit_key, key,
                               input, metadata)
        values (trigger.run_id, 0, v_queue, 'r', coalesce(trigger.priority, v_priority), v_now, v_now, trigger.tenant,
                trigger.limit_key, trigger.key, trigger.input, trigger.metadata);
        created := true;
    elsif created is not false then
        created := pawl._insert_other(v_now, v_workflow, v_queue, v_timeout, v_flow, v_bound, run_id, id is not null, input, tenant,
            coalesce(priority, v_priority), delay, metadata, key, limit_key, key_while_active, v_taken);
    end if;
    if v_flow then
        handled := pawl._first_handled(v_workflow, tenant, v_now);
    elsif v_idle is not null then
        perform pawl._hint(v_idle, '');
    end if;
    return next;
end
$$;
comment on function pawl.trigger(text, json, text, text, int, interval, json, uuid, interval, boolean, text) is
'Triggers a run: records, in the caller''s transaction, the intent that it should happen, and returns its id. created is false when the key or the id stands for a run already. handled says whether a live worker handles the workflow now; without one the run waits. Payloads are kept as they are. A key holds as long as the run is retained, or for key_ttl, or while the run has not ended (key_while_active; a retry takes it again).
If repeated: with the same key or the same id it returns the same run; without either, it makes another run.
Locks: the row of the key while it is new; waits for another trigger, or a retry, that is taking it.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 bad argument, PW004 same key with another input, PW009 payload over a limit, PW010 the key changed hands too fast: send it again; 40001 above read committed.
Limits: the cost is constant.';
