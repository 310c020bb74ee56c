-- SPDX-License-Identifier: Apache-2.0
-- Events: emit one, and deliver it to the waits that match it.

-- Locks the row of a topic and key for an emit, by changing it, and returns its path sets. The emit waits for other transactions that hold
-- the row. Above read committed it fails if one of them has changed the row since its snapshot.
create or replace function pawl._meet_waits(p_tenant text, p_topic text, p_key text, p_now timestamptz)
returns text[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_paths text[];
    v_hinted boolean;
begin
    -- guard:emit_update
    update pawl_data.topic o
    -- guard:emit_dates_topic
    set beat = o.beat + 1, touched_at = p_now, emitted_at = greatest(o.emitted_at, p_now)
    where o.tenant = p_tenant and o.topic = p_topic and o.key = p_key
    returning o.path_sets into v_paths;
    if found then
        return v_paths;
    end if;
    -- A hint to waits, which must not wait for the insert.
    v_hinted := pawl._hint_topic(p_tenant, p_topic, p_key);
    -- guard:emit_dates_new_topic
    insert into pawl_data.topic as o (tenant, topic, key, touched_at, emitted_at)
    values (p_tenant, p_topic, p_key, p_now, p_now)
    on conflict on constraint topic_pkey do update
    set beat = o.beat + 1, touched_at = excluded.touched_at, emitted_at = greatest(o.emitted_at, excluded.emitted_at)
    returning o.path_sets into v_paths;
    if not v_hinted then
        -- The transaction that had given the hint has ended, perhaps without making the row.
        perform pawl._hint_topic(p_tenant, p_topic, p_key);
    end if;
    return v_paths;
end
$$;
comment on function pawl._meet_waits(text, text, text, timestamptz) is 'an emit locks the row of its topic and key';

-- Finds earlier events of the same topic and key that are still being delivered. is_behind: there are some. theirs: events that another
-- transaction delivers at this moment. The remaining ones are locked: until this transaction ends, no other transaction delivers them.
create or replace function pawl._earlier_deliveries(p_event pawl_data.event, out is_behind boolean, out theirs uuid[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_id uuid;
begin
    is_behind := false;
    theirs := '{}';
    for v_id in select d.event_id from pawl_data.delivery d where d.event_id <> p_event.event_id loop
        -- One by one: so only the partition of each is opened, and no topic with a million events is read.
        perform from pawl_data.event e
        where e.event_id = v_id and e.tenant = p_event.tenant and e.topic = p_event.topic and e.key = p_event.key
          and (e.emitted_at, e.event_id) < (p_event.emitted_at, p_event.event_id);
        continue when not found;
        is_behind := true;
        perform from pawl_data.delivery d where d.event_id = v_id for update skip locked;
        if not found then
            theirs := theirs || v_id;
        end if;
    end loop;
end
$$;
comment on function pawl._earlier_deliveries(pawl_data.event) is 'events that waits are to get before this one';

-- Gives an event to waits that match it, one by one, while an earlier event of its topic is still being delivered. At most p_max waits, in the
-- order of their runs after p_after. A wait that matches an earlier event, which is still being delivered, gets that event instead.
-- settled: how many waits got an event. last: the run after which the next call continues, null at the end. passed_over: some waits must be
-- checked again.
-- p_patient: the caller is emit() itself. It waits for a run that another transaction holds, instead of skipping it, and no other
-- transaction can see the event yet.
create or replace function pawl._deliver_each(
    p_event pawl_data.event, p_digests bytea[], p_max int, p_now timestamptz, p_patient boolean, p_after uuid,
    out settled int, out last uuid, out passed_over boolean)
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
    v_event pawl_data.event;
    v_found pawl_data.event;
    v_seen int := 0;
    v_behind boolean := false;
    v_theirs uuid[];
    -- Waits of one run follow each other. v_has_it: the last run found to have this event, or to be triggered after it. v_locked: the last run
    -- of which a task was locked.
    v_has_it uuid;
    v_locked uuid;
begin
    settled := 0;
    passed_over := false;
    for v_wait in
        select w.*
        from unnest(p_digests) d (digest)
        cross join lateral (
            select w.*
            from pawl_data.wait w
            where w.kind = 'e' and w.tenant = p_event.tenant and w.topic = p_event.topic and w.key = p_event.key
              and w.digest = d.digest and w.run_id > p_after
            order by w.run_id
            limit p_max
        ) w
        order by w.run_id, w.task_no, w.seq
        limit p_max
    loop
        v_seen := v_seen + 1;
        last := v_wait.run_id;
        -- Checked once, and only if a run waits. 1. Event 1 has so many waits that housekeeping still delivers it. 2. Event 2, of the same
        -- topic and key, is delivered here. Without this, a wait that matches both would get event 2 before event 1. While an emit runs, no
        -- earlier event is added, because it holds the row of the topic. Housekeeping does not: an emit that has read the clock earlier and
        -- commits later is concurrent with this event, so either may come first.
        -- guard:deliver_in_order
        if v_seen = 1 and exists (select from pawl_data.delivery d where d.event_id <> p_event.event_id) then
            select d.is_behind, d.theirs into v_behind, v_theirs from pawl._earlier_deliveries(p_event) d;
        end if;
        if p_patient then
            select t.* into v_task
            from pawl_data.task t where t.run_id = v_wait.run_id and t.task_no = v_wait.task_no
            for update;
        else
            select t.* into v_task
            from pawl_data.task t where t.run_id = v_wait.run_id and t.task_no = v_wait.task_no
            for update skip locked;
            passed_over := passed_over or not found;
        end if;
        continue when v_task.run_id is null;
        v_locked := v_wait.run_id;
        v_event := p_event;
        if v_behind then
            v_found := pawl._find_event(v_task, v_wait.topic, v_wait.key, v_wait.match, p_now);
            if (v_found.emitted_at, v_found.event_id) < (p_event.emitted_at, p_event.event_id) then
                v_event := v_found;
            end if;
        end if;
        if v_event.event_id <> p_event.event_id then
            -- 1. A delivers event 2 here, to a wait that also matches event 1. 2. B delivers event 1 at this moment, perhaps to another
            -- task of the same run. 3. A does not see that before B commits. Without this test the run could take event 1 twice.
            -- guard:deliver_theirs
            if v_event.event_id = any (v_theirs) then
                passed_over := true;
                continue;
            end if;
        else
            -- The next three tests are those of _deliver_set(): deliver_once, deliver_after_trigger and deliver_recheck.
            -- guard:deliver_each_once
            continue when v_wait.run_id = v_has_it;
            -- guard:deliver_each_after_trigger
            if not p_patient and v_task.triggered_at > p_event.emitted_at then
                v_has_it := v_wait.run_id;
                continue;
            end if;
            -- guard:deliver_each_recheck
            if not p_patient and exists (
                select from pawl._steps(array[v_wait.run_id]) s where s.kind = 'e' and s.source_id = p_event.event_id) then
                v_has_it := v_wait.run_id;
                continue;
            end if;
        end if;
        -- While this call waited for the row, the wait may have timed out or taken another event: then nothing is settled.
        if pawl._settle(v_task, v_wait, 's', v_event.payload, null, v_event.event_id, p_now) then
            settled := settled + 1;
            v_has_it := case when v_event.event_id = p_event.event_id then v_wait.run_id else v_has_it end;
        end if;
    end loop;
    if v_seen < p_max then
        last := null;
    elsif last = v_locked and last is distinct from v_has_it then
        -- 1. The last wait of this call got an earlier event, or it timed out while the call waited for its task. 2. A further wait of the same
        -- run may match this event, and the next call begins after the run. Without this, that wait would never get the event.
        -- guard:deliver_split_run
        passed_over := true;
    end if;
end
$$;
comment on function pawl._deliver_each(pawl_data.event, bytea[], int, timestamptz, boolean, uuid) is 'settles waits that an event, or one before it, matches';

-- Gives an event to waits that match it, with few statements for all of them. Arguments and results are those of _deliver_each().
create or replace function pawl._deliver_set(
    p_event pawl_data.event, p_digests bytea[], p_max int, p_now timestamptz, p_patient boolean, p_after uuid,
    out settled int, out last uuid, out passed_over boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_seen int;
    v_runs uuid[];
    v_tasks int[];
    v_names text[];
    v_wanted int;
    v_had uuid[] := array[]::uuid[];
    v_locked boolean;
begin
    settled := 0;
    passed_over := false;
    select count(*), array_agg(w.run_id order by w.run_id, w.task_no) filter (where w.nth = 1),
           array_agg(w.task_no order by w.run_id, w.task_no) filter (where w.nth = 1), count(*) filter (where w.nth = 1)
    into v_seen, v_runs, v_tasks, v_wanted
    from (
        select w.run_id, w.task_no, row_number() over (partition by w.run_id, w.task_no) as nth
        from (
            select w.run_id, w.task_no, w.seq
            from unnest(p_digests) d (digest)
            cross join lateral (
                select w.run_id, w.task_no, w.seq
                from pawl_data.wait w
                where w.kind = 'e' and w.tenant = p_event.tenant and w.topic = p_event.topic and w.key = p_event.key
                  and w.digest = d.digest and w.run_id > p_after
                order by w.run_id
                limit p_max
            ) w
            order by w.run_id, w.task_no, w.seq
            limit p_max
        ) w
    ) w;
    if v_seen = 0 then
        return;
    end if;
    last := case when v_seen = p_max then v_runs[v_wanted] end;
    -- In the order of their ids, so that emits do not wait for each other in a circle.
    if p_patient then
        select array_agg(t.run_id order by i.n), array_agg(t.task_no order by i.n) into v_runs, v_tasks
        from unnest(v_runs, v_tasks) with ordinality i (run_id, task_no, n)
        cross join lateral (
            select t.run_id, t.task_no from pawl_data.task t where t.run_id = i.run_id and t.task_no = i.task_no for update
        ) t;
    else
        select array_agg(t.run_id order by i.n), array_agg(t.task_no order by i.n) into v_runs, v_tasks
        from unnest(v_runs, v_tasks) with ordinality i (run_id, task_no, n)
        cross join lateral (
            select t.run_id, t.task_no from pawl_data.task t where t.run_id = i.run_id and t.task_no = i.task_no for update skip locked
        ) t;
        passed_over := coalesce(cardinality(v_runs), 0) < v_wanted;
        -- 1. An event with very many waits is emitted. 2. A run, whose wait has not got it yet, opens a second wait, which takes the event
        -- itself. 3. The delivery reaches the first wait. Without this test the run would take the event twice.
        -- guard:deliver_recheck
        v_had := array(select s.run_id from pawl._steps(v_runs) s where s.kind = 'e' and s.source_id = p_event.event_id);
    end if;
    v_locked := last = any (v_runs);
    -- A statement of its own, after the locks: a wait may have timed out, or taken another event, while this call waited for its task.
    select array_agg(c.run_id), array_agg(c.task_no), array_agg(c.name) into v_runs, v_tasks, v_names
    from (
        -- A run takes an event once, however many of its waits match.
        -- guard:deliver_once
        select distinct on (w.run_id) w.run_id, w.task_no, w.name
        from unnest(v_runs, v_tasks) i (run_id, task_no)
        cross join lateral (
            select w.run_id, w.task_no, w.name, w.seq
            from pawl_data.wait w
            where w.run_id = i.run_id and w.task_no = i.task_no and w.kind = 'e' and w.topic = p_event.topic and w.key = p_event.key
              and w.digest = any (p_digests)
            offset 0
        ) w
        cross join lateral (
            select from pawl_data.task t
            where t.run_id = i.run_id and t.task_no = i.task_no
              -- The test of _settle().
              -- guard:deliver_cancelled
              and (t.ending is null or t.rolling_back)
              -- 1. An event with very many waits is emitted. 2. A run is triggered later, and waits for such an event. 3. Housekeeping
              -- continues the delivery. Without this test the run would get an event from before its trigger.
              -- guard:deliver_after_trigger
              and (p_patient or t.triggered_at <= p_event.emitted_at)
            offset 0
        ) t
        where w.run_id <> all (v_had)
        order by w.run_id, w.task_no, w.seq
    ) c;
    if v_runs is not null then
        settled := pawl._settle_set(p_event, v_runs, v_tasks, v_names, p_now);
    end if;
    -- The last run may have further waits, in other tasks, and the next call begins after it. 1. Its wait timed out while this call waited for
    -- its task. 2. The run has not taken the event. Without this, a wait of another task would never get it.
    -- guard:deliver_set_split_run
    if v_locked and last <> all (coalesce(v_runs, '{}') || v_had)
       and (p_patient or exists (select from pawl_data.task t where t.run_id = last and t.triggered_at <= p_event.emitted_at)) then
        passed_over := true;
    end if;
end
$$;
comment on function pawl._deliver_set(pawl_data.event, bytea[], int, timestamptz, boolean, uuid) is 'settles waits that an event matches, all at once';

-- Ends waits with an event as _settle() ends one: writes the records, deletes the waits, makes the tasks ready. The caller has locked the tasks.
create or replace function pawl._settle_set(p_event pawl_data.event, p_runs uuid[], p_tasks int[], p_names text[], p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_count int;
    v_other record;
    -- By their places, which do not change while the caller has the locks: a join that is planned while the table is empty would read all of it.
    v_waits tid[] := array(
        select w.ctid
        from unnest(p_runs, p_tasks, p_names) i (run_id, task_no, name)
        cross join lateral (
            select w.ctid from pawl_data.wait w where w.run_id = i.run_id and w.task_no = i.task_no and w.name = i.name offset 0) w);
begin
    -- Records of a later round, or of a kept run, are looked up before they are written.
    for v_other in
        select t.t as task, w.w as wait
        from unnest(p_runs, p_tasks, p_names) i (run_id, task_no, name)
        cross join lateral (
            select t from pawl_data.task t where t.run_id = i.run_id and t.task_no = i.task_no and (t.round > 1 or t.kept) offset 0) t
        cross join lateral (
            select w from pawl_data.wait w where w.run_id = i.run_id and w.task_no = i.task_no and w.name = i.name offset 0) w
    loop
        perform pawl._record(v_other.task, (v_other.wait).name, 'e', 's', (v_other.wait).seq, p_event.payload, null, p_now,
            (1000 * date_part('epoch', p_now - (v_other.wait).created_at))::bigint, 1, null, p_event.event_id);
    end loop;
    with gone as (
        delete from pawl_data.wait w where w.ctid = any (v_waits)
        returning w.run_id, w.task_no, w.name, w.seq, w.created_at
    ), recorded as (
        insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output, source_id)
        select g.run_id, g.task_no, 1, 's', 'e', g.seq, 1, t.fence,
               p_now - (1000 * date_part('epoch', p_now - g.created_at))::bigint * interval '1 ms', p_now, g.name, p_event.payload,
               p_event.event_id
        from gone g
        cross join lateral (
            select t.fence from pawl_data.task t
            where t.run_id = g.run_id and t.task_no = g.task_no and t.round = 1 and not t.kept
            offset 0
        ) t
        on conflict do nothing
    )
    select count(*) into v_count from gone;
    -- After the records, which may have changed their tasks.
    perform pawl._make_ready(p_runs, p_tasks, p_now);
    return v_count;
end
$$;
comment on function pawl._settle_set(pawl_data.event, uuid[], int[], text[], timestamptz) is 'ends waits with an event and wakes their tasks';

-- Gives an event to a page of waits, as _deliver_each() says.
create or replace function pawl._deliver(
    p_event pawl_data.event, p_path_sets text[], p_max int, p_now timestamptz, p_patient boolean, p_after uuid,
    out settled int, out last uuid, out passed_over boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Only where a wait compares something.
    v_payload jsonb := case when p_path_sets <> '{}' and p_path_sets <> array[''] then pawl._comparable(p_event.payload) end;
    v_digests bytea[] := array(
        select distinct d.digest
        from (select pawl._digest(s.paths, v_payload) as digest from unnest(p_path_sets) s (paths)) d
        where d.digest is not null);
begin
    -- An emit holds the row of the topic, so no earlier event is added in the meantime; for housekeeping see _deliver_each().
    -- guard:deliver_set_in_order
    if exists (select from pawl_data.delivery d where d.event_id <> p_event.event_id)
       and (select d.is_behind from pawl._earlier_deliveries(p_event) d) then
        select d.settled, d.last, d.passed_over into settled, last, passed_over
        from pawl._deliver_each(p_event, v_digests, p_max, p_now, p_patient, p_after) d;
    else
        select d.settled, d.last, d.passed_over into settled, last, passed_over
        from pawl._deliver_set(p_event, v_digests, p_max, p_now, p_patient, p_after) d;
    end if;
end
$$;
comment on function pawl._deliver(pawl_data.event, text[], int, timestamptz, boolean, uuid) is 'settles waits that an event matches';

create or replace function pawl.emit(topic text, payload json default '{}', key text default '', tenant text default '', id uuid default null)
returns table (event_id uuid, answer text, woken int)
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
    v_tenant text := pawl._tenant(tenant, 'emit');
    v_event pawl_data.event;
    v_paths text[];
    v_made int;
    v_last uuid;
    v_passed_over boolean;
begin
    if topic is null or length(topic) not between 1 and 200 then
        -- guard:topic_max
        perform pawl._raise('PW003', 'topic must have 1 to 200 characters');
    end if;
    if key is null or length(key) > 500 then
        -- guard:event_key_max
        perform pawl._raise('PW003', 'key must have at most 500 characters');
    end if;
    perform pawl._check_payload(payload::text);
    if id is not null then
        perform pawl._id_check(id, v_now);
    end if;
    v_event := row(coalesce(id, pawl._event_id(v_now)), v_now, v_tenant, topic, key, payload)::pawl_data.event;
    perform pawl._need_partitions(array[v_event.event_id], array['event']);
    v_paths := pawl._meet_waits(v_tenant, topic, key, v_now);
    insert into pawl_data.event select v_event.* on conflict do nothing;
    get diagnostics v_made = row_count;
    event_id := v_event.event_id;
    woken := 0;
    if v_made = 0 then
        -- 1. A emits an event with an id. 2. B, of another tenant, emits one with the same id, which is not stored. With the answer
        -- already, B would take its event for stored.
        if (select e.tenant from pawl_data.event e where e.event_id = v_event.event_id) is distinct from v_tenant then
            -- guard:event_id_tenant
            perform pawl._raise('PW001', format('event id "%s" is already in use', id), 'Make another id with pawl.make_id().');
        end if;
        answer := 'already';
        return next;
        return;
    end if;
    answer := 'ok';
    -- Without subscriptions, an emit pays for a look at a size: see _claimer().
    if pg_relation_size('pawl_data.subscription') > 0 then
        -- guard:emit_subscribed
        insert into pawl_data.subscription_event (event_id, tenant, last_id)
        select v_event.event_id, v_tenant, s.subscription_id
        from pawl_data.subscription s
        where s.tenant = v_tenant and s.topic = emit.topic and (s.key is null or s.key = emit.key)
        order by s.subscription_id desc
        limit 1;
    end if;
    -- 1. A (this emit) has locked the row of the topic; B is a wait on the same topic and key. 2. If B committed before A got the lock,
    -- this statement sees B's wait, because it takes a new snapshot. 3. If B comes later, it answers busy, and sees A's event when it is
    -- sent again. With a snapshot older than the lock, A could miss the wait and B the event, and the run would wait forever.
    -- guard:emit_looks_later
    select d.settled, d.last, d.passed_over into woken, v_last, v_passed_over
    from pawl._deliver(v_event, v_paths, 1000, v_now, true, '00000000-0000-0000-0000-000000000000') d;
    if v_last is not null or v_passed_over then
        insert into pawl_data.delivery (event_id, tenant, after, passed_over, due_at)
        values (v_event.event_id, v_tenant, coalesce(v_last, '00000000-0000-0000-0000-000000000000'), v_last is not null and v_passed_over, v_now);
    end if;
    return next;
end
$$;
comment on function pawl.emit(text, json, text, text, uuid) is
'Stores an event in the caller''s transaction. Matching open waits are completed now, up to 1,000; housekeeping completes the remaining waits soon after. A wait opened later also finds the event until the event retention has passed. Each subscription that matches starts one run, soon after the commit. Give busy topics a key: emits and waits of one topic and key wait for each other.
If repeated: with the same id it answers already.
Locks: the row of the topic and key, then the tasks that it wakes, in the order of their ids.
Errors: PW001 another tenant than the caller''s, or an id of another tenant''s event, PW003 bad argument, PW009 payload over a limit, PW010 another transaction is making a partition that it needs: send it again; 40001 above read committed.
Limits: 1,000 waits settled.';

