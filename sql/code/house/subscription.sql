-- SPDX-License-Identifier: Apache-2.0
-- Events that start runs: housekeeping starts the run of each event and subscription. A piece of a tick, in its own transaction: at most 200
-- runs or 50 ms, whichever is first, and never in a claim. It locks rows of events, and of subscriptions against a pause, skipping locked
-- ones. The run has a key made of the subscription's name and the event, so that one event starts one run, whatever else happens.

-- Starts the run of an event. Returns false if the event has its run already. The caller has locked the subscription.
create or replace function pawl._trigger_subscribed(p_subscription pawl_data.subscription, p_event pawl_data.event, p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow := pawl._workflow(p_subscription.workflow);
    v_key text := format('event/%s/%s', p_subscription.name, p_event.event_id);
    v_about json := json_build_object('subscription', p_subscription.name, 'id', p_event.event_id, 'topic', p_event.topic, 'key', p_event.key,
        'at', to_char(p_event.emitted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'));
    v_input json := case when p_subscription.input = 'payload' then p_event.payload else pawl._with_member(v_about, 'payload', p_event.payload) end;
    v_run uuid := pawl._id_make(p_now, pawl._key_slot(p_event.tenant, p_subscription.workflow, v_key));
    v_taken boolean;
begin
    if v_workflow.flow then
        perform pawl._check_flow(v_workflow.workflow_id);
    end if;
    -- 1. The database is restored, or an operator writes the row of an event again. 2. Its run is retained. No transaction waits here, because
    -- no other call takes such a key without the lock of the event's row.
    -- guard:subscription_key
    select h.taken into v_taken
    from pawl._hold_key(p_now, v_workflow.workflow_id, p_event.tenant, v_key, sha256(convert_to(v_input::text, 'UTF8')), v_run, null) h;
    if not v_taken then
        return false;
    end if;
    perform pawl._insert_run(p_now, v_workflow.queue_id, v_workflow.run_timeout, v_workflow.expires, case when v_workflow.flow then v_workflow.workflow_id end,
        v_run, false, v_input, p_event.tenant, v_workflow.priority, null, json_build_object('event', v_about), v_key, null, null, null, null, false);
    if not v_workflow.flow then
        perform pawl._wake_one(v_workflow.queue_id, p_event.tenant, p_now);
    end if;
    return true;
end
$$;
comment on function pawl._trigger_subscribed(pawl_data.subscription, pawl_data.event, timestamptz) is 'starts the run of an event';

-- One event by its id. The plan is made for the id, so that only its partition is opened.
create or replace function pawl._event_of(p_id uuid)
returns pawl_data.event
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
declare
    v_event pawl_data.event;
begin
    select e.* into v_event from pawl_data.event e where e.event_id = p_id;
    return v_event;
end
$$;
comment on function pawl._event_of(uuid) is 'the event of an id, if it is retained';

-- Whether a subscription may start a run now. A time far ahead means that the clock was moved backward.
create or replace function pawl._may_start(p_subscription pawl_data.subscription, p_now timestamptz)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return not p_subscription.paused
        -- guard:subscription_clock
        and (p_subscription.retry_at <= p_now or p_subscription.retry_at > p_now + interval '1 hour');
end
$$;
comment on function pawl._may_start(pawl_data.subscription, timestamptz) is 'whether a subscription may start a run now';

-- Locks a subscription against a change, and returns it; null if another transaction has it, or it may not start a run now.
create or replace function pawl._share_subscription(p_id bigint, p_now timestamptz)
returns pawl_data.subscription
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_subscription pawl_data.subscription;
begin
    -- 1. Housekeeping has read that a subscription is not paused. 2. pause_subscription() returns. 3. Housekeeping commits a run. With the
    -- lock, the pause waits for that commit, and later pieces see the pause. Several sessions may hold it at once.
    -- guard:subscription_share
    select s.* into v_subscription from pawl_data.subscription s where s.subscription_id = p_id for share skip locked;
    -- guard:subscription_paused
    return case when found and pawl._may_start(v_subscription, p_now) then v_subscription end;
end
$$;
comment on function pawl._share_subscription(bigint, timestamptz) is 'locks a subscription that may start a run now';

-- Stores why a subscription could not start a run. Its next attempt is in a minute; deferred events after p_event come first then.
create or replace function pawl._defer_subscription(p_subscription pawl_data.subscription, p_event uuid, p_now timestamptz, p_error text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.subscription s
    -- 1. The flow of a subscription was deleted. 2. A hundred thousand events are emitted. Without the later time every round would fail at
    -- them again, and other subscriptions would wait for it.
    -- guard:subscription_deferred
    set retry_at = p_now + interval '1 min', held_after = p_event, last_error = left(p_error, 1000), failed_at = p_now
    where s.ctid = any (array(
        select d.ctid from pawl_data.subscription d where d.subscription_id = p_subscription.subscription_id for update skip locked));
    perform pawl._note_failure('subscriptions', p_now, format('subscription %s: %s', p_subscription.name, p_error));
end
$$;
comment on function pawl._defer_subscription(pawl_data.subscription, uuid, timestamptz, text) is 'stores why a subscription could not start a run';

-- Starts the run of an event, and returns whether that did not fail. With p_each, an error is stored, and harms nothing else.
create or replace function pawl._start_subscribed(
    p_subscription pawl_data.subscription, p_event pawl_data.event, p_now timestamptz, p_each boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if not p_each then
        perform pawl._trigger_subscribed(p_subscription, p_event, p_now);
        return true;
    end if;
    begin
        perform pawl._trigger_subscribed(p_subscription, p_event, p_now);
        return true;
    exception
        when others then
            perform pawl._defer_subscription(p_subscription, p_event.event_id, p_now, sqlstate || ' ' || sqlerrm);
            return false;
    end;
end
$$;
comment on function pawl._start_subscribed(pawl_data.subscription, pawl_data.event, timestamptz, boolean) is 'starts the run of an event; an error harms nothing else';

-- Subscriptions that have deferred events and may start runs now, or have been deleted; at most p_max. Leaps from one to the next. In random
-- order, so that those that another transaction locks do not keep others from their turn.
create or replace function pawl._held_subscriptions(p_now timestamptz, p_max int, p_tenant text)
returns bigint[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return array(
        with recursive held (id) as (
            (select h.subscription_id from pawl_data.subscription_held h order by h.subscription_id limit 1)
            union all
            select (select h.subscription_id from pawl_data.subscription_held h where h.subscription_id > l.id order by h.subscription_id limit 1)
            from held l where l.id is not null
        )
        select l.id
        from held l
        left join pawl_data.subscription s on s.subscription_id = l.id
        where l.id is not null
          and (s.subscription_id is null and p_tenant is null
               -- guard:subscription_held_tenant
               or (p_tenant is null or s.tenant = p_tenant) and pawl._may_start(s, p_now))
        order by random()
        limit p_max);
end
$$;
comment on function pawl._held_subscriptions(timestamptz, int, text) is 'subscriptions whose deferred events are due';

-- Starts runs of events that one subscription has deferred; at most p_max. Returns how many events were handled.
create or replace function pawl._start_held(p_id bigint, p_now timestamptz, p_max int, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_subscription pawl_data.subscription := pawl._share_subscription(p_id, p_now);
    v_events uuid[];
    v_id uuid;
    v_event pawl_data.event;
    v_count int := 0;
begin
    if v_subscription.subscription_id is null then
        if exists (select from pawl_data.subscription s where s.subscription_id = p_id) then
            return 0;
        end if;
        delete from pawl_data.subscription_held h
        where h.ctid = any (array(
            select d.ctid from pawl_data.subscription_held d where d.subscription_id = p_id limit 1000 for update skip locked));
        return 1;
    end if;
    -- 1. One event makes the start fail each time. 2. Others are deferred since. Each attempt begins after the event that failed last, so that
    -- others are started, and that event is tried once in each walk.
    -- guard:subscription_passes_on
    v_events := array(
        select h.event_id from pawl_data.subscription_held h
        where h.subscription_id = p_id and h.event_id > v_subscription.held_after
        order by h.event_id limit p_max for update skip locked);
    if v_events = '{}' then
        v_events := array(
            select h.event_id from pawl_data.subscription_held h
            where h.subscription_id = p_id order by h.event_id limit p_max for update skip locked);
    end if;
    foreach v_id in array v_events loop
        v_event := pawl._event_of(v_id);
        -- An event that is no longer retained starts nothing.
        exit when v_event.event_id is not null and not pawl._start_subscribed(v_subscription, v_event, p_now, p_each);
        delete from pawl_data.subscription_held h where h.subscription_id = p_id and h.event_id = v_id;
        v_count := v_count + 1;
    end loop;
    if v_count = cardinality(v_events) and v_subscription.last_error is not null then
        update pawl_data.subscription s
        set retry_at = '-infinity', last_error = null, failed_at = null
        where s.ctid = any (array(select d.ctid from pawl_data.subscription d where d.subscription_id = p_id for update skip locked));
    end if;
    return v_count;
end
$$;
comment on function pawl._start_held(bigint, timestamptz, int, boolean) is 'starts runs of events that a subscription has deferred';

-- Starts the runs of one event, and forgets the event. Returns how many. The caller has locked its row.
create or replace function pawl._start_event(p_row pawl_data.subscription_event, p_subscriptions bigint[], p_event pawl_data.event, p_now timestamptz, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_id bigint;
    v_subscription pawl_data.subscription;
    v_count int := 0;
begin
    foreach v_id in array p_subscriptions loop
        v_count := v_count + 1;
        v_subscription := pawl._share_subscription(v_id, p_now);
        if v_subscription.subscription_id is null or not pawl._start_subscribed(v_subscription, p_event, p_now, p_each) then
            -- guard:subscription_holds
            insert into pawl_data.subscription_held (subscription_id, event_id) values (v_id, p_event.event_id) on conflict do nothing;
        end if;
    end loop;
    -- guard:subscription_event_once
    delete from pawl_data.subscription_event d where d.event_id = p_row.event_id;
    return v_count;
end
$$;
comment on function pawl._start_event(pawl_data.subscription_event, bigint[], pawl_data.event, timestamptz, boolean) is 'starts the runs of an event';

-- Subscriptions that an event matches, oldest first, up to p_last. The event matches as it would match a wait.
create or replace function pawl._subscribed(p_event pawl_data.event, p_last bigint)
returns bigint[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_payload jsonb;
begin
    -- Only where a subscription compares something.
    if exists (select from pawl_data.subscription s where s.tenant = p_event.tenant and s.topic = p_event.topic and s.path_set <> '') then
        v_payload := pawl._comparable(p_event.payload);
    end if;
    return array(
        select s.subscription_id
        from pawl_data.subscription s
        where s.tenant = p_event.tenant and s.topic = p_event.topic
          -- 1. An event is emitted. 2. A second subscription of its topic is created. 3. Housekeeping reaches the event. Without this test the
          -- second one would start a run for an event from before it. The clock does not decide, because it may be moved.
          -- guard:subscription_after
          and s.subscription_id <= p_last
          and (s.key is null or s.key = p_event.key)
          and (s.path_set = '' or pawl._digest(s.path_set, v_payload) = s.digest)
        order by s.subscription_id);
end
$$;
comment on function pawl._subscribed(pawl_data.event, bigint) is 'subscriptions that an event matches';

-- The piece of a tick that starts runs of events, of one tenant if p_tenant is given: at most p_max runs. Returns how many events and
-- subscriptions were handled. Deferred events have at most half of it.
create or replace function pawl._start_runs(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    -- Real time, not pawl.now(): a test clock may stand still.
    v_until timestamptz := clock_timestamp() + interval '50 ms';
    v_count int := 0;
    v_id bigint;
    v_due pawl_data.subscription_event[];
    v_row pawl_data.subscription_event;
    v_event pawl_data.event;
    v_subscriptions bigint[];
    v_done int := 0;
begin
    -- Events wait until resume_all(). Without a lock: what a start in progress commits later is queued, and no claim returns it.
    -- guard:subscription_all_paused
    if (select s.paused from pawl_data.setting s where s.only_row) then
        return 0;
    end if;
    foreach v_id in array pawl._held_subscriptions(p_now, 100, p_tenant) loop
        exit when v_count >= p_max / 2 or clock_timestamp() > v_until;
        v_count := v_count + pawl._start_held(v_id, p_now, least(p_max / 2 - v_count, 50), p_each);
    end loop;
    -- 1. A and B tick at the same time. 2. A locks events and starts their runs. 3. B skips these, or, if A has committed, does not find them.
    if p_tenant is null then
        -- guard:subscription_skip_locked
        v_due := array(select e from pawl_data.subscription_event e order by e.event_id limit p_max for update skip locked);
    else
        -- guard:subscription_tenant
        v_due := array(
            select e from pawl_data.subscription_event e where e.tenant = p_tenant order by e.event_id limit p_max for update skip locked);
    end if;
    foreach v_row in array v_due loop
        exit when v_done > 0 and clock_timestamp() > v_until;
        v_event := pawl._event_of(v_row.event_id);
        v_subscriptions := case when v_event.event_id is null then '{}' else pawl._subscribed(v_event, v_row.last_id) end;
        -- A topic has at most 100 subscriptions, so that this never ends the first turn.
        -- guard:subscription_round
        exit when v_count + cardinality(v_subscriptions) > p_max;
        v_count := v_count + pawl._start_event(v_row, v_subscriptions, v_event, p_now, p_each);
        v_done := v_done + 1;
    end loop;
    return v_count + v_done;
end
$$;
comment on function pawl._start_runs(timestamptz, int, text, boolean) is 'starts runs of events that subscriptions match';

-- Deletes deferred events that are no longer retained: of a subscription that is paused for long, housekeeping does not look at them.
create or replace function pawl._forget_held(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    -- An id that a client made may be an hour off.
    v_floor uuid := pawl._id_floor(pawl._shift(p_now, (select - s.event_retention from pawl_data.setting s where s.only_row)) - interval '1 hour');
begin
    delete from pawl_data.subscription_held h
    where h.ctid = any (array(
        select d.ctid
        from pawl_data.subscription s
        cross join lateral (
            select d.ctid from pawl_data.subscription_held d
            where d.subscription_id = s.subscription_id and d.event_id < v_floor
            order by d.event_id limit 1000
            for update skip locked
        ) d
        where s.paused
        limit 10000));
end
$$;
comment on function pawl._forget_held(timestamptz) is 'deletes deferred events that are no longer retained';
