-- SPDX-License-Identifier: Apache-2.0
-- Triggering: the durable intent that a run should happen, one or many.

-- Inserts the one row of a new run, and for a flow (p_flow, its workflow) its first tasks, too. The caller has decided everything. Returns
-- false if the client made the id (p_given) and it exists already. No other id can exist, so only these pay for the more expensive insert.
create or replace function pawl._insert_run(
    p_now timestamptz, p_queue int, p_timeout interval, p_expires interval, p_flow int, p_id uuid, p_given boolean, p_input json, p_tenant text,
    p_priority int, p_delay interval, p_metadata json, p_key text, p_limit_key text, p_parent uuid, p_parent_step text,
    p_parent_task int, p_attached boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_apart boolean := octet_length(p_input::text) > 2000;
    v_limits boolean := p_timeout is not null or p_expires is not null;
    v_place "char" := case when p_flow is not null then 'o' when p_delay > interval '0' then 'w' else 'r' end;
    v_due timestamptz := case when p_delay > interval '0' then pawl._shift(p_now, p_delay) else p_now end;
    v_reason text := case when p_delay > interval '0' and p_flow is null then 'delay' end;
    v_undo boolean := p_flow is not null and exists (
        select from pawl_data.flow_step s where s.workflow_id = p_flow and s.undo is not null);
    v_input json := case when not v_apart then p_input end;
    v_made int := 1;
    v_lane uuid;
begin
    -- A queue without lanes, in a database without any, pays for a look at a size: see _claimer().
    if v_place = 'r' and pg_relation_size('pawl_data.lane_queue') > 0 then
        if exists (select from pawl_data.lane_queue l where l.queue_id = p_queue) then
            v_place := 'l';
            v_lane := pawl._lane_of(p_tenant, p_limit_key);
        end if;
    end if;
    if p_given then
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, input_apart, attached, undo, reason, due_at,
                               triggered_at, tenant, limit_key, lane, key, parent_id, parent_step, parent_task, input, metadata)
        values (p_id, 0, p_queue, v_place, p_priority, v_apart, v_limits or p_attached, v_undo, v_reason, v_due, p_now,
                p_tenant, p_limit_key, v_lane, p_key, p_parent, p_parent_step, p_parent_task, v_input, p_metadata)
        on conflict on constraint task_pkey do nothing;
        get diagnostics v_made = row_count;
    else
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, input_apart, attached, undo, reason, due_at,
                               triggered_at, tenant, limit_key, lane, key, parent_id, parent_step, parent_task, input, metadata)
        values (p_id, 0, p_queue, v_place, p_priority, v_apart, v_limits or p_attached, v_undo, v_reason, v_due, p_now,
                p_tenant, p_limit_key, v_lane, p_key, p_parent, p_parent_step, p_parent_task, v_input, p_metadata);
    end if;
    -- The run of a given id may have ended and left the hot set before the insert. So a later statement looks for it in history.
    if v_made = 1 and p_given and pawl._id_is_used(p_id) then
        delete from pawl_data.task t where t.run_id = p_id and t.task_no = 0;
        v_made := 0;
    end if;
    if v_made = 0 then
        return false;
    end if;
    -- Before the rows that may outlive a run of the same id: a large input. And a flow may end as it starts, so a later check would find its
    -- own end.
    -- guard:new_flow_checked
    if not p_given and (v_apart or p_flow is not null) then
        perform pawl._check_new(array[p_id]);
    end if;
    if v_lane is not null then
        perform pawl._join_lanes(array[p_id]);
    end if;
    if v_apart then
        perform pawl._need_partitions(array[p_id], array['input']);
        insert into pawl_data.input (run_id, input) values (p_id, p_input);
    end if;
    if v_limits then
        perform pawl._limit_runs(array[p_id], p_tenant, p_now, v_due, p_timeout, p_expires);
    end if;
    if p_flow is not null then
        perform pawl._open_flows(array[p_id], p_flow, p_now, p_delay);
    end if;
    return true;
end
$$;
comment on function pawl._insert_run(timestamptz, int, interval, interval, int, uuid, boolean, json, text, int, interval, json, text, text, uuid, text, int, boolean) is 'inserts the hot row of a new run; false if there is one already';

-- Time limits of new runs, which housekeeping enforces. Both count from the time when the runs are due.
create or replace function pawl._limit_runs(
    p_ids uuid[], p_tenant text, p_now timestamptz, p_due timestamptz, p_timeout interval, p_expires interval)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, created_at, due_at)
    select i, 0, l.name, 'l', 0, p_tenant, p_now, pawl._shift(p_due, l.time)
    from unnest(p_ids) i
    cross join (values ('timeout', p_timeout), ('expires', p_expires)) l (name, time)
    where l.time is not null;
end
$$;
comment on function pawl._limit_runs(uuid[], text, timestamptz, timestamptz, interval, interval) is 'writes the time limits of new runs';

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

create or replace function pawl._check_trigger(p_key text, p_priority int, p_delay interval, p_limit_key text, p_expires interval default null)
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
    -- 1. A producer triggers with the key of a schedule's next time, and stays in its transaction. 2. Housekeeping fires the schedule. Without
    -- this it would wait for A; and with A's run the time would have no run of the schedule.
    -- guard:key_reserved
    if starts_with(p_key, 'schedule/') then
        perform pawl._raise('PW003', 'keys that begin with "schedule/" belong to schedules', 'Use another key.');
    end if;
    -- The same holds for the run of an event.
    -- guard:key_reserved_event
    if starts_with(p_key, 'event/') then
        perform pawl._raise('PW003', 'keys that begin with "event/" belong to subscriptions', 'Use another key.');
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
    perform pawl._check_expires(p_expires);
end
$$;
comment on function pawl._check_trigger(text, int, interval, text, interval) is 'refuses options of a trigger that are out of range';

create or replace function pawl._check_expires(p_expires interval)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_expires <= interval '0' or p_expires > interval '10 years' then
        -- guard:expires_range
        perform pawl._raise('PW003', 'expires must be more than 0 and at most ten years');
    end if;
end
$$;
comment on function pawl._check_expires(interval) is 'refuses a time to start in that is out of range';

-- The input of a run of a workflow crontab.NAME is a command, which pawl worker --crontab executes. 1. A, a producer, triggers such a run with
-- a command of its own. Without this A would execute commands on the worker's machine. Only a schedule triggers such runs, and only an
-- operator that is not bound to a tenant creates it.
create or replace function pawl._check_no_command(p_name text)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:crontab_reserved
    if starts_with(p_name, 'crontab.') then
        perform pawl._raise('PW003', format('runs of workflow "%s" are triggered by schedules alone', p_name),
            'Use pawl.backfill_schedule(), or a workflow with another name.');
    end if;
end
$$;
comment on function pawl._check_no_command(text) is 'refuses a workflow whose input is a command';

create or replace function pawl._check_target(p_workflow int, p_name text, p_flow boolean)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:trigger_refused
    perform pawl._raise_maintenance() from pawl_data.setting s where s.refuses_triggers;
    perform pawl._check_no_command(p_name);
    if p_flow then
        perform pawl._check_flow(p_workflow);
    end if;
end
$$;
comment on function pawl._check_target(int, text, boolean) is 'refuses to trigger a run whose input is a command, a flow without steps, and any run while triggers are refused';

-- For callers that have read that triggers are refused.
create or replace function pawl._raise_maintenance()
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_pause pawl_data.pause := (select p from pawl_data.pause p where p.subject = 'all');
begin
    perform pawl._raise('PW013', 'triggers are refused' || coalesce(format(': %s paused everything at %s%s', v_pause.paused_by,
        to_char(v_pause.paused_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), coalesce(': ' || left(v_pause.why, 200), '')), ''),
        'Send the call again later.');
end
$$;
comment on function pawl._raise_maintenance() is 'refuses a trigger while everything is paused';

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

-- Inserts a run that is not plain: it has a given id, a delay, time limits, a flow, a lane, key_while_active, tags, or a large input. Returns false
-- if the run exists already.
create or replace function pawl._insert_other(
    p_now timestamptz, p_workflow int, p_queue int, p_timeout interval, p_expires interval, p_flow boolean, p_bound boolean, p_id uuid, p_given boolean, p_input json,
    p_tenant text, p_priority int, p_delay interval, p_metadata json, p_key text, p_limit_key text, p_key_while_active boolean, p_taken boolean,
    p_tags text[])
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_created boolean;
begin
    v_created := pawl._insert_run(p_now, p_queue, p_timeout, p_expires, case when p_flow then p_workflow end, p_id, p_given, p_input, p_tenant,
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
    if v_created and p_tags is not null then
        perform pawl._check_tags(p_tags);
        perform pawl._add_tags(array[p_id], p_tenant, p_tags);
    end if;
    return v_created;
end
$$;
comment on function pawl._insert_other(timestamptz, int, int, interval, interval, boolean, boolean, uuid, boolean, json, text, int, interval, json, text, text, boolean, boolean, text[]) is 'inserts a run that is not plain';

-- Checks ids that a caller calls new, after the insert. 1. A client makes an id of time t. Its request A, which calls the id new, is delayed. 2. The
-- client loses the connection, and repeats the trigger as request B, which does not call the id new. B makes the run. The run is executed and
-- ends, perhaps within milliseconds; its row leaves the hot set in the transaction of its end. 3. A inserts its row: no row of the hot set
-- conflicts. Without this check there would be two runs.
--
-- The client sends B only when the clock of the database is past t + 250 ms. So if A reads a time from t to t + 100 ms after its insert, B
-- begins later, and finds the row of A or the history of its run. If A reads a later time, it searches history. The run of B can only have
-- ended before A's insert, because B would wait for A's row otherwise; so the search, which is a later statement, finds it. An id that is ahead
-- of the clock is searched for, too: it was made by a wrong clock, so its time does not show its age. The 150 ms between the two limits are a
-- reserve for a clock that is slowed down, or moved backward, between 2 and 3.
create or replace function pawl._check_new(p_ids uuid[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_millis bigint := (date_part('epoch', pawl.now()) * 1000)::bigint;
    -- Ids that are not from 0 to 100 ms old.
    -- guard:new_ids_young
    v_old uuid[] := array(select i from unnest(p_ids) i where abs(v_millis - pawl._id_millis(i) - 50) > 50);
begin
    if cardinality(v_old) = 0 then
        return;
    end if;
    -- guard:new_id_is_old
    if (case when current_setting('transaction_isolation') = 'read committed' then exists (select from pawl._runs(v_old))
             else (select bool_or(pawl._id_is_used(i)) from unnest(v_old) i) end) then
        perform pawl._raise('PW010', 'an id that was sent as new has been sent before, and its run has ended', 'Send the call again without id_is_new.');
    end if;
end
$$;
comment on function pawl._check_new(uuid[]) is 'refuses ids that are not new though the caller says so';

create or replace function pawl.trigger(
    workflow text, input json default '{}', key text default null, tenant text default '', priority int default null,
    delay interval default null, metadata json default null, id uuid default null, key_ttl interval default null,
    key_while_active boolean default false, limit_key text default null, id_is_new boolean default false, tags text[] default null,
    expires interval default null, replace boolean default false, debounce interval default null, debounce_max interval default null)
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
    v_now timestamptz := pawl._write_time();
    v_millis bigint := (date_part('epoch', v_now) * 1000)::bigint;
    v_input text := input::text;
    v_given boolean;
    v_workflow int;
    v_queue int;
    v_priority int;
    v_timeout interval;
    v_flow boolean;
    v_laned boolean;
    v_bound boolean;
    v_refused boolean;
    v_digest bytea;
    v_expires timestamptz;
    v_listens boolean;
    v_made int;
    v_taken boolean := true;
begin
    -- Few statements and few calls: usual values are tested in line, and functions are called only for other values.
    select w.workflow_id, w.queue_id, w.priority::int, w.run_timeout, coalesce(trigger.expires, w.expires), w.flow, w.laned, s.tenants_bound, s.refuses_triggers,
           -- Whether a live worker handles the queue. This is _is_handled() without the call.
           (select true from pawl_data.worker_queue h
            cross join lateral (select from pawl_data.worker k
                                where k.session_id = h.session_id and k.ended_at is null and k.lease_until > v_now offset 0) k
            where h.queue_id = w.queue_id order by h.session_id desc limit 1) is true,
           exists (select from pawl_data.worker k where k.listens and k.ended_at is null)
    into v_workflow, v_queue, v_priority, v_timeout, expires, v_flow, v_laned, v_bound, v_refused, handled, v_listens
    from pawl_data.workflow w cross join pawl_data.setting s
    where w.name = trigger.workflow and s.only_row;
    if not found then
        perform pawl._raise('PW002', format('unknown workflow "%s"', workflow), 'Create it first: select pawl.create_workflow(name).');
    end if;
    if v_refused or v_flow or starts_with(workflow, 'crontab.') then
        perform pawl._check_target(v_workflow, workflow, v_flow);
    end if;
    if v_bound or tenant is null or tenant <> '' then
        tenant := pawl._tenant(tenant, 'trigger');
    end if;
    if v_bound and not v_flow then
        -- A worker may be bound, too, and to another tenant than the call's, which is known only now.
        -- guard:trigger_wake_bound
        handled := pawl._is_handled(v_queue, tenant, v_now);
    end if;
    -- Another call may have sent the id before. A tenant's role could call the id of another tenant's run new that has just ended.
    -- guard:new_id_tenant
    v_given := id is not null and (id_is_new is not true or v_bound and pawl._bound_tenant(null) is not null);
    if v_input is null or octet_length(v_input) > 2000 or octet_length(v_input) - octet_length(translate(v_input, '{[', '')) > 64 then
        perform pawl._check_payload(v_input);
    end if;
    if metadata is not null then
        perform pawl._check_payload(metadata::text);
    end if;
    if priority is not null or delay is not null or limit_key is not null or expires is not null or length(key) not between 1 and 500 or octet_length(key) > 1000
       or starts_with(key, 'schedule/') or starts_with(key, 'event/') then
        perform pawl._check_trigger(key, priority, delay, limit_key, expires);
    end if;
    if key_ttl is not null or replace or debounce is not null or debounce_max is not null then
        perform pawl._check_key_use(key, delay, key_ttl, key_while_active, replace, debounce, debounce_max, v_flow);
        delay := coalesce(delay, debounce);
    end if;
    if abs(pawl._id_millis(id) - v_millis) > 3000000 or id::text !~ '^.{14}7.{4}[89ab]' then
        perform pawl._id_check(id, v_now);
    end if;
    run_id := case when id is not null then id
        when key is not null then pawl._id_make(v_now, pawl._key_slot(tenant, workflow, key))
        else (lpad(to_hex(v_millis), 12, '0') || '7' || substr(gen_random_uuid()::text, 16))::uuid end;
    if replace or debounce is not null then
        select h.run, h.created into trigger.run_id, trigger.created from pawl._take_over_key(v_now, v_workflow, v_queue, tenant, key, trigger.run_id, id is not null and id_is_new is not true, v_bound, input, metadata, v_timeout, expires, replace, debounce, debounce_max) h;
    elsif key is not null then
        -- The first attempt of _hold_key(), without the call. If the key exists, _meet_key() decides.
        v_digest := sha256(convert_to(v_input, 'UTF8'));
        v_expires := case when key_while_active then 'infinity' when key_ttl is not null then pawl._shift(v_now, key_ttl) end;
        insert into pawl_data.key (workflow_id, expires_at, run_id, tenant, key, digest)
        values (v_workflow, v_expires, trigger.run_id, trigger.tenant, trigger.key, v_digest)
        on conflict on constraint key_pkey do nothing;
        get diagnostics v_made = row_count;
        if v_made = 0 then
            select h.run, h.created, h.taken into trigger.run_id, trigger.created, v_taken from pawl._meet_key(v_now, v_workflow, v_queue, tenant, key, v_digest, trigger.run_id, v_given, v_expires, v_bound) h;
        end if;
    end if;
    if created is not false and not (v_given or v_flow or v_laned or key_while_active) and delay is null and v_timeout is null and expires is null and tags is null and octet_length(v_input) <= 2000 then
        -- The plain case of _insert_run, without the call.
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, due_at, triggered_at, tenant, limit_key, key, input, metadata)
        values (trigger.run_id, 0, v_queue, 'r', coalesce(trigger.priority, v_priority), v_now, v_now, trigger.tenant, trigger.limit_key, trigger.key, trigger.input, trigger.metadata);
        created := true;
    elsif created is not false then
        created := pawl._insert_other(v_now, v_workflow, v_queue, v_timeout, expires, v_flow, v_bound, run_id, v_given, input, tenant,
            coalesce(priority, v_priority), delay, metadata, key, limit_key, key_while_active, v_taken, tags);
    end if;
    -- guard:new_id_young
    if created and id is not null and not (v_given or v_flow) and abs((date_part('epoch', pawl.now()) * 1000)::bigint - pawl._id_millis(id) - 50) > 50 then
        perform pawl._check_new(array[id]);
    end if;
    if v_flow then
        handled := pawl._first_handled(v_workflow, tenant, v_now);
    -- A transaction of one statement notifies no worker while none listens: see _is_lone(). A condition without a query is cheap, so it is first.
    elsif handled and created and delay is null
          and (v_listens or statement_timestamp() <> transaction_timestamp() or clock_timestamp() >= transaction_timestamp() + interval '50 ms') then
        perform pawl._ring_for(v_queue, tenant) where v_listens or clock_timestamp() >= transaction_timestamp() + interval '50 ms'
            or not exists (select from pg_cursor() c where c.name = '' and c.creation_time = transaction_timestamp());
    end if;
    return next;
end
$$;
comment on function pawl.trigger(text, json, text, text, int, interval, json, uuid, interval, boolean, text, boolean, text[], interval, boolean, interval, interval) is
'Triggers a run: records, in the caller''s transaction, the intent that it should happen, and returns its id. created is false when the key or the id stands for a run already. handled says whether a live worker handles the workflow now; without one the run waits. Payloads are kept as they are. A key holds as long as the run is retained, or for key_ttl, or while the run has not ended (key_while_active; a retry takes it again). limit_key: with key_limit of the workflow, only so many runs of the tenant with the same limit_key are held at a time. tags: up to 8 texts of up to 100 bytes, such as order=42, that list_runs and find search for; the call that finds a run adds none to it. expires: if no worker claims the run within this time from when it is due, it ends CANCELLED with the error expired; it is never claimed after that. Without it expires of the workflow counts. replace: the last input of a key counts. If no worker has claimed the run of the key, the run gets input and metadata of this call, keeps the rest, and created is false; its time limits begin again. If a worker has claimed it, it is cancelled, as by cancel within a moment, and the key stands for a new run. If it has ended, a new run is made. debounce: the same, but the run starts debounce after the last call, at the latest debounce_max after the first, and a run that a worker has claimed continues (with replace, too, it is cancelled). With id_is_new the caller promises that it made the id for this call, and that the id is sent again only when the clock of the database is 250 ms past the time in the id, and without id_is_new. Then ended runs are not searched for an id of the last 100 ms, which makes the call cheaper; they are for any other id. A caller that breaks the promise can get a second run with the id of an ended run; the end of the second run leaves the history of the first unchanged.
If repeated: with the same key or the same id it returns the same run; without either, it makes another run. With replace or debounce, a call without an id counts as another one; a call with the id of an earlier one changes nothing, nor does one that is sent without id_is_new after a call with a later id. With the same id and id_is_new again it raises 23505 while the run has not ended.
Locks: the row of the key while it is new; waits for another trigger, or a retry, that is taking it. With replace or debounce the rows of the key and of the run that gets the input; triggers with that key wait until the caller commits, and workers do not.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 bad argument, PW004 same key with another input, or replace or debounce with a key that was used with key_while_active, PW009 payload over a limit, PW010 the key changed hands too fast, or a new id is not new: send it again, without id_is_new, PW013 an operator refuses triggers for a while; 23505 a run that has not ended has the new id; 40001 above read committed.
Limits: the cost is constant.';
