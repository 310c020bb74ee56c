-- SPDX-License-Identifier: Apache-2.0
-- Triggering many runs in one call. It works on sets: one statement for all keys, one for all runs.

-- Takes each key for the id of the same item, or answers with the run that has it. Like _hold_key, it leaves the rows of keys that other
-- runs have unlocked. taken: the item gets a run of its own. null: every item does.
create or replace function pawl._hold_keys(
    p_now timestamptz, p_workflow_id int, p_tenant text, p_keys text[], p_inputs json[], p_ids uuid[], p_expires timestamptz,
    out run_ids uuid[], out taken boolean[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_floor uuid := pawl._id_floor(pawl._shift(p_now, (select - s.retention from pawl_data.setting s where s.only_row)));
    v_wanted int := cardinality(array_remove(p_keys, null));
    v_made int;
    v_other record;
begin
    if exists (
        select
        from unnest(p_keys) u (key)
        cross join lateral (
            select k from pawl_data.key k where k.tenant = p_tenant and k.workflow_id = p_workflow_id and k.key = u.key offset 0
        ) k
        -- The cheap test first: the function is called only for keys that may have expired.
        where ((k.k).expires_at <= p_now or (k.k).expires_at is null and (k.k).run_id < v_floor)
          and pawl._key_is_over(k.k, p_now)) then
        select h.run_ids, h.taken into run_ids, taken
        from pawl._hold_each_key(p_now, p_workflow_id, p_tenant, p_keys, p_inputs, p_ids, p_expires) h;
        return;
    end if;
    insert into pawl_data.key (workflow_id, expires_at, run_id, tenant, key, digest)
    select p_workflow_id, p_expires, u.id, p_tenant, u.key, sha256(convert_to(u.input::text, 'UTF8'))
    from unnest(p_keys, p_inputs, p_ids) with ordinality u (key, input, id, n)
    where u.key is not null
    -- An insert waits for another transaction that inserts the same key. 1. A inserts key a. B inserts key b. 2. A wants b and
    -- waits for B. 3. Without the order B may want a and wait for A: a deadlock.
    -- guard:keys_in_order
    order by u.key, u.n
    on conflict on constraint key_pkey do nothing;
    get diagnostics v_made = row_count;
    run_ids := array(select unnest(p_ids));
    if v_made = v_wanted then
        return;
    end if;
    -- A separate statement: it sees the keys that were committed while the insert waited.
    select array_agg(case when u.key is null then u.id else k.run_id end order by u.n),
           array_agg(u.key is null or k.run_id = u.id order by u.n),
           count(k.run_id)
    into run_ids, taken, v_made
    from unnest(p_keys, p_ids) with ordinality u (key, id, n)
    left join lateral (
        select k.run_id
        from pawl_data.key k
        where k.tenant = p_tenant and k.workflow_id = p_workflow_id and k.key = u.key
        offset 0
    ) k on true;
    -- 1. A inserts key b and finds key a taken by the run of B. 2. That run ends and frees a. 3. C inserts a and waits for b. If A
    -- inserted a now, it would wait for C: a deadlock. Without the test A would answer with no run. So the caller repeats the call.
    -- guard:freed_key_is_not_awaited
    if v_made < v_wanted then
        perform pawl._raise('PW010', 'a key was freed during the call', 'Retry the call.');
    end if;
    select u.key, k.run_id into v_other
    from unnest(p_keys, p_inputs, taken) with ordinality u (key, input, taken, n)
    cross join lateral (
        select k.run_id, k.digest
        from pawl_data.key k
        where not u.taken and k.tenant = p_tenant and k.workflow_id = p_workflow_id and k.key = u.key
        offset 0
    ) k
    where k.digest <> sha256(convert_to(u.input::text, 'UTF8'))
    order by u.key, u.n
    limit 1;
    if found then
        -- 1. A triggers a run with key k and input 1. 2. B triggers with k and input 2. Without the error B would take the run of A for
        -- its own, which has another input.
        -- guard:keys_input
        perform pawl._raise_other_input(v_other.key, v_other.run_id);
    end if;
end
$$;
comment on function pawl._hold_keys(timestamptz, int, text, text[], json[], uuid[], timestamptz) is 'the runs that idempotency keys stand for, which may be the ones that ask';

-- The same, one by one, where a key has expired and is taken over by an update.
create or replace function pawl._hold_each_key(
    p_now timestamptz, p_workflow_id int, p_tenant text, p_keys text[], p_inputs json[], p_ids uuid[], p_expires timestamptz,
    out run_ids uuid[], out taken boolean[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_item record;
    v_held record;
begin
    -- Counted from 1, whatever bounds the caller's array has.
    run_ids := array(select unnest(p_ids));
    taken := array_fill(true, array[cardinality(p_ids)]);
    for v_item in
        select u.*
        from unnest(p_keys, p_inputs, p_ids) with ordinality u (key, input, id, n)
        where u.key is not null
        -- An update waits for another transaction that takes over the same key. 1. A takes over key a. B takes over key b. 2. A wants b
        -- and waits for B. 3. Without the order B may want a and wait for A: a deadlock.
        -- guard:expired_keys_in_order
        order by u.key, u.n
    loop
        select h.* into v_held
        from pawl._hold_key(p_now, p_workflow_id, p_tenant, v_item.key, sha256(convert_to(v_item.input::text, 'UTF8')), v_item.id,
                            p_expires) h;
        if not v_held.same_input then
            -- 1. A triggers a run with key k and input 1. 2. B triggers with k and input 2, and with a key that has expired. Without the
            -- error B would take the run of A for its own, which has another input.
            -- guard:each_key_input
            perform pawl._raise_other_input(v_item.key, v_held.run_id);
        end if;
        run_ids[v_item.n] := v_held.run_id;
        taken[v_item.n] := v_held.taken;
    end loop;
end
$$;
comment on function pawl._hold_each_key(timestamptz, int, text, text[], json[], uuid[], timestamptz) is 'takes idempotency keys of which some have expired';

create or replace function pawl._raise_other_input(p_key text, p_run uuid)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._raise('PW004', format('key "%s" was used with another input', p_key),
        format('Run %s has the key. Use another key for another input.', p_run));
end
$$;
comment on function pawl._raise_other_input(text, uuid) is 'refuses a key that stands for a run with another input';

-- Inserts the hot rows of new runs, with all that belongs to them. Returns the ids it made. p_given: clients made the ids, so a run may
-- have one already; such an id is left out.
create or replace function pawl._insert_runs(
    p_now timestamptz, p_workflow pawl_data.workflow, p_tenant text, p_priority int, p_delay interval, p_metadata json, p_ids uuid[],
    p_given boolean, p_inputs json[], p_keys text[], p_limit_keys text[], p_attached boolean, p_tags text[], p_expires interval)
returns uuid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_later boolean := coalesce(p_delay > interval '0', false);
    v_place "char" := case when p_workflow.flow then 'o' when v_later then 'w' when p_workflow.laned then 'l' else 'r' end;
    v_due timestamptz := case when v_later then pawl._shift(p_now, p_delay) else p_now end;
    v_start_within interval := coalesce(p_expires, p_workflow.expires);
    v_limits boolean := p_workflow.run_timeout is not null or v_start_within is not null;
    v_attached boolean := p_attached or v_limits;
    v_undo boolean := p_workflow.flow and exists (
        select from pawl_data.flow_step s where s.workflow_id = p_workflow.workflow_id and s.undo is not null);
    v_large boolean := exists (select from unnest(p_inputs) i (input) where octet_length(i.input::text) > 2000);
    v_made uuid[] := p_ids;
    v_used uuid[];
begin
    if p_given then
        with made as (
            insert into pawl_data.task (run_id, task_no, queue_id, place, priority, input_apart, attached, undo, reason, due_at,
                                   triggered_at, tenant, limit_key, lane, key, input, metadata)
            select i.id, 0, p_workflow.queue_id, v_place, p_priority, octet_length(i.input::text) > 2000, v_attached, v_undo,
                   case when v_place = 'w' then 'delay' end, v_due, p_now, p_tenant, i.limit_key,
                   case when v_place = 'l' then pawl._lane_of(p_tenant, i.limit_key) end, i.key,
                   case when octet_length(i.input::text) <= 2000 then i.input end, p_metadata
            from unnest(p_ids, p_inputs, p_keys, p_limit_keys) i (id, input, key, limit_key)
            order by i.id
            on conflict on constraint task_pkey do nothing
            returning run_id
        )
        select coalesce(array_agg(m.run_id), array[]::uuid[]) into v_made from made m;
        -- The run of a given id may have ended and left the hot set before the insert. So a later statement looks for it in history.
        v_used := array(select distinct r.run_id from pawl._runs(v_made) r);
        if cardinality(v_used) > 0 then
            delete from pawl_data.task t where t.run_id = any (v_used) and t.task_no = 0;
            v_made := array(select m from unnest(v_made) m where m <> all (v_used));
        end if;
    else
        insert into pawl_data.task (run_id, task_no, queue_id, place, priority, input_apart, attached, undo, reason, due_at,
                               triggered_at, tenant, limit_key, lane, key, input, metadata)
        select i.id, 0, p_workflow.queue_id, v_place, p_priority, octet_length(i.input::text) > 2000, v_attached, v_undo,
               case when v_place = 'w' then 'delay' end, v_due, p_now, p_tenant, i.limit_key,
               case when v_place = 'l' then pawl._lane_of(p_tenant, i.limit_key) end, i.key,
               case when octet_length(i.input::text) <= 2000 then i.input end, p_metadata
        from unnest(p_ids, p_inputs, p_keys, p_limit_keys) i (id, input, key, limit_key);
    end if;
    -- The same check as in _insert_run().
    -- guard:new_flows_checked
    if not p_given and (v_large or p_workflow.flow) then
        perform pawl._check_new(v_made);
    end if;
    if v_place = 'l' then
        perform pawl._join_lanes(v_made);
    end if;
    if v_large then
        perform pawl._need_partitions(p_ids, array['input']);
        insert into pawl_data.input (run_id, input)
        select distinct on (i.id) i.id, i.input
        from unnest(p_ids, p_inputs) with ordinality i (id, input, n)
        where octet_length(i.input::text) > 2000 and (not p_given or i.id = any (v_made))
        order by i.id, i.n;
    end if;
    if v_limits then
        perform pawl._limit_runs(v_made, p_tenant, p_now, v_due, p_workflow.run_timeout, v_start_within);
    end if;
    if p_workflow.flow and cardinality(v_made) > 0 then
        perform pawl._open_flows(v_made, p_workflow.workflow_id, p_now, p_delay);
    end if;
    if p_tags is not null and cardinality(v_made) > 0 then
        perform pawl._check_tags(p_tags);
        perform pawl._add_tags(v_made, p_tenant, p_tags);
    end if;
    return v_made;
end
$$;
comment on function pawl._insert_runs(timestamptz, pawl_data.workflow, text, int, interval, json, uuid[], boolean, json[], text[], text[], boolean, text[], interval) is 'inserts the hot rows of new runs';

-- The arguments of the call as a whole. Those that trigger refuses for one run are refused here for all.
create or replace function pawl._check_trigger_many(
    p_inputs json[], p_keys text[], p_ids uuid[], p_limit_keys text[], p_priority int, p_delay interval, p_metadata json,
    p_key_ttl interval, p_while_active boolean, p_expires interval, p_now timestamptz)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_count int := coalesce(cardinality(p_inputs), 0);
    v_max int := (select s.payload_max from pawl_data.setting s where s.only_row);
    v_least uuid := pawl._id_floor(p_now - interval '1 hour');
    v_last uuid := pawl._id_floor(p_now + interval '1 hour');
begin
    if v_count > 10000 then
        -- guard:trigger_many_max
        perform pawl._raise('PW009', format('%s runs in one call, the limit is 10000', v_count));
    end if;
    if cardinality(p_keys) <> v_count or cardinality(p_ids) <> v_count or cardinality(p_limit_keys) <> v_count then
        -- guard:trigger_many_lengths
        perform pawl._raise('PW003', 'inputs, keys, ids and limit_keys must have the same length');
    end if;
    perform pawl._check_payload(i.input::text)
    from unnest(p_inputs) i (input)
    where i.input is null or octet_length(i.input::text) > least(2000, v_max)
       or octet_length(i.input::text) - octet_length(replace(replace(i.input::text, '{', ''), '[', '')) > 64;
    if p_metadata is not null then
        perform pawl._check_payload(p_metadata::text);
    end if;
    perform pawl._check_trigger(null, p_priority, p_delay,
        (select k from unnest(p_limit_keys) k order by length(k) desc nulls last limit 1), p_expires);
    perform pawl._check_trigger(k, null, null, null, null)
    from unnest(p_keys) k
    where length(k) not between 1 and 500 or octet_length(k) > 1000 or starts_with(k, 'schedule/') or starts_with(k, 'event/');
    if p_key_ttl is not null and (p_key_ttl <= interval '0' or p_key_ttl > interval '1000 years' or p_while_active) then
        -- guard:trigger_many_key_ttl_range
        perform pawl._raise('PW003', 'a key has one lifetime: key_ttl, more than 0 and at most 1000 years, or key_while_active');
    end if;
    perform pawl._id_check(i, p_now)
    from unnest(p_ids) i
    where i is null or i < v_least or i > v_last
       or substr(i::text, 15, 1) <> '7' or substr(i::text, 20, 1) not in ('8', '9', 'a', 'b');
end
$$;
comment on function pawl._check_trigger_many(json[], text[], uuid[], text[], int, interval, json, interval, boolean, interval, timestamptz) is 'refuses arguments of trigger_many that are out of range';

-- Whether an item depends on what an item before it does, so that they are triggered one after the other.
create or replace function pawl._needs_order(p_workflow pawl_data.workflow, p_keys text[], p_ids uuid[], p_while_active boolean)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- Above read committed a run that ended after the snapshot is found by trigger alone.
    if p_ids is not null and current_setting('transaction_isolation') <> 'read committed' then
        return true;
    end if;
    if p_keys is null then
        return false;
    end if;
    -- A run of a flow may end as it starts. 1. Item 1 takes key a, and its run ends and frees a. 2. Item 2 has key a, too, and
    -- gets a run of its own. Taken as a set, item 2 would be answered with a run that has ended.
    -- guard:flow_frees_key_at_once
    if p_workflow.flow and p_while_active
       and (select count(distinct k) < count(k) from unnest(p_keys) k) then
        return true;
    end if;
    -- With both ids and keys an item may name the run of an earlier item, or a run of this call when it was sent before.
    return p_ids is not null
       and ((select count(distinct k) < count(k) from unnest(p_keys) k)
            or (select count(distinct i) < count(i) from unnest(p_ids) i)
            or exists (select from pawl_data.task t where t.run_id = any (p_ids) and t.task_no = 0)
            or exists (select from pawl._runs(p_ids)));
end
$$;
comment on function pawl._needs_order(pawl_data.workflow, text[], uuid[], boolean) is 'whether runs of one call are triggered one after the other';

create or replace function pawl.trigger_many(
    workflow text, inputs json[], keys text[] default null, tenant text default '', priority int default null,
    delay interval default null, metadata json default null, ids uuid[] default null, key_ttl interval default null,
    key_while_active boolean default false, limit_keys text[] default null, ids_are_new boolean default false, tags text[] default null, expires interval default null)
returns table (item int, run_id uuid, created boolean, handled boolean)
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
    v_now timestamptz := pawl._write_time();
    v_workflow pawl_data.workflow := pawl._workflow(workflow);
    v_tenant text := pawl._tenant(tenant, 'trigger_many');
    v_count int := coalesce(cardinality(inputs), 0);
    v_prefix text := pawl._id_prefix(v_now);
    -- 47 and 10 random bits of the one id that was made for them.
    v_random bigint := ('x' || right(gen_random_uuid()::text, 12))::bit(48)::bigint >> 1;
    v_slot int := (random() * 1023)::int;
    v_scope bytea := convert_to(v_tenant, 'UTF8') || e'\\x00'::bytea || convert_to(workflow, 'UTF8') || e'\\x00'::bytea;
    v_handled boolean;
    v_ids uuid[] := ids;
    -- Ids that another call may have sent before.
    -- guard:new_ids_tenant
    v_given boolean := ids is not null and (ids_are_new is not true or pawl._bound_tenant(null) is not null);
    v_runs uuid[];
    v_taken boolean[];
    v_made uuid[];
begin
    perform pawl._check_target(v_workflow.workflow_id, workflow, v_workflow.flow);
    perform pawl._check_trigger_many(inputs, keys, ids, limit_keys, priority, delay, metadata, key_ttl, key_while_active, expires, v_now);
    if v_count = 0 then
        return;
    end if;
    if pawl._needs_order(v_workflow, keys, case when v_given then ids end, key_while_active) then
        return query
        select i.item::int, t.run_id, t.created, t.handled
        from (
            select u.*
            from unnest(inputs, coalesce(keys, array_fill(null::text, array[v_count])),
                        coalesce(ids, array_fill(null::uuid, array[v_count])),
                        coalesce(limit_keys, array_fill(null::text, array[v_count])))
                     with ordinality u (input, key, id, limit_key, item)
            -- A trigger waits for another transaction that takes the same key. 1. A takes key a. B takes key b. 2. A wants b and waits for
            -- B. 3. Without the order B may want a and wait for A: a deadlock.
            -- guard:trigger_many_in_order
            order by u.key, u.id, u.item
            offset 0
        ) i
        cross join lateral pawl.trigger(workflow, i.input, i.key, tenant, priority, delay, metadata, i.id, key_ttl,
                                        key_while_active, i.limit_key, ids_are_new, tags, expires) t
        order by i.item;
        return;
    end if;
    v_handled := case when v_workflow.flow then pawl._first_handled(v_workflow.workflow_id, v_tenant, v_now)
                      else pawl._is_handled(v_workflow.queue_id, v_tenant, v_now) end;
    if v_given and pawl._bound_tenant(null) is not null then
        perform pawl._check_own(ids, v_tenant);
    end if;
    if ids is null then
        -- Random for the whole call, counted within it: as unique, in order, and half the cost of random ids. The slot of a run
        -- with a key is that of _key_slot().
        select array_agg((v_prefix || lpad(to_hex(i.n & 4095), 3, '0') || '-'
                          || to_hex(32768 | case when i.sum is null then (((v_slot + i.n) & 1023) << 4)::int
                                                 else (get_byte(i.sum, 0) << 6) | (get_byte(i.sum, 1) >> 6 << 4) end)
                          || '-' || lpad(to_hex(v_random + i.n), 12, '0'))::uuid order by i.n)
        into v_ids
        from (
            select u.n, sha256(v_scope || convert_to(u.key, 'UTF8')) as sum
            from unnest(inputs, keys) with ordinality u (input, key, n)
        ) i;
    end if;
    v_runs := v_ids;
    if keys is not null then
        select h.run_ids, h.taken into v_runs, v_taken
        from pawl._hold_keys(v_now, v_workflow.workflow_id, v_tenant, keys, inputs, v_ids,
                             case when key_while_active then 'infinity' else pawl._shift(v_now, key_ttl) end) h;
    end if;
    if v_taken is null then
        v_made := pawl._insert_runs(v_now, v_workflow, v_tenant, coalesce(priority, v_workflow.priority), delay, metadata, v_ids,
            v_given, inputs, keys, limit_keys, keys is not null and key_while_active, tags, expires);
    else
        select pawl._insert_runs(v_now, v_workflow, v_tenant, coalesce(priority, v_workflow.priority), delay, metadata,
                                 array_agg(i.id order by i.n), v_given, array_agg(i.input order by i.n),
                                 array_agg(i.key order by i.n), array_agg(i.limit_key order by i.n), key_while_active, tags, expires)
        into v_made
        from unnest(v_ids, inputs, keys, limit_keys, v_taken) with ordinality i (id, input, key, limit_key, taken, n)
        where i.taken
        having count(*) > 0;
    end if;
    if v_given and keys is not null and cardinality(v_made) < (select count(*) from unnest(v_runs, v_ids) r (run, id) where r.run = r.id) then
        -- 1. A finds that no run has its ids. 2. B triggers a run with one of the ids, and commits. 3. A takes its key for that id. Without
        -- the test the key would stand for a run that was triggered without it.
        -- guard:id_taken_meanwhile
        perform pawl._raise('PW010', 'an id was used by another transaction during the call', 'Retry the call.');
    end if;
    if ids is not null and not (v_given or v_workflow.flow) then
        perform pawl._check_new(v_made);
    end if;
    -- 1. A inserts 10,000 runs, for half a second. 2. Others trigger runs, and would notify no worker all that time if A had rung before it.
    -- guard:many_ring_last
    if v_handled and not v_workflow.flow and delay is null and cardinality(v_made) > 0 then
        perform pawl._ring_for(v_workflow.queue_id, v_tenant);
    end if;
    if v_taken is null and not v_given then
        return query select n::int, i, true, v_handled from unnest(v_ids) with ordinality u (i, n);
        return;
    end if;
    return query
    select u.n::int, u.run,
           u.run = u.id and (not v_given or u.id = any (v_made) and row_number() over (partition by u.id order by u.n) = 1),
           v_handled
    from unnest(v_runs, v_ids) with ordinality u (run, id, n)
    order by u.n;
end
$$;
comment on function pawl.trigger_many(text, json[], text[], text, int, interval, json, uuid[], interval, boolean, text[], boolean, text[], interval) is
'Triggers up to 10,000 runs of one workflow in one call. Returns one row for each input, in order. The arguments mean what they mean for trigger, ids_are_new as id_is_new, and each run that the call makes gets all of tags; an item whose key is null has none.
If repeated: with the same keys or ids it returns the same runs; without, it makes other runs. With the same ids and ids_are_new again it raises 23505 while one of the runs has not ended.
Locks: one row for each new key, in key order, so that concurrent calls do not deadlock on each other; waits for another trigger, or a retry, that is taking one of the keys.
Errors: those of trigger; one bad item refuses the whole call, because it is one transaction. PW010 a key was freed, or an id used, during the call: send it again.
Limits: 10,000 runs.';
