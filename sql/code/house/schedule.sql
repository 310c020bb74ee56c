-- SPDX-License-Identifier: Apache-2.0
-- Firing: housekeeping triggers the runs of schedules whose nominal time has come. A piece of a tick, in its own transaction: at most 20
-- schedules or 10 ms, whichever is first, and never in a claim. It locks rows of schedules, skipping locked ones. The run has a key made of the
-- schedule's name and the nominal time, so that one time triggers one run, whatever else happens.

-- Nominal times of a schedule that are after p_after and not after p_until, in order, at most p_max.
create or replace function pawl._schedule_times(p_schedule pawl_data.schedule, p_after timestamptz, p_until timestamptz, p_max int)
returns table (at timestamptz, note text)
language plpgsql
stable
rows 10
set search_path to pg_catalog, pg_temp
as $$
declare
    -- From starts_at on, and before ends_at.
    v_after timestamptz := greatest(p_after, p_schedule.starts_at - interval '1 microsecond');
    v_until timestamptz := least(p_until, p_schedule.ends_at - interval '1 microsecond');
begin
    if p_schedule.cron is not null then
        return query select c.at, c.note from pawl._cron_times(p_schedule.cron, p_schedule.zone, v_after, v_until, p_max) c;
    elsif p_schedule.every is not null then
        return query select i.at, null::text from pawl._interval_times(p_schedule.anchor_at, p_schedule.every, v_after, v_until, p_max) i;
    elsif p_schedule.once_at > v_after and p_schedule.once_at <= v_until then
        return query select p_schedule.once_at, null::text;
    end if;
end
$$;
comment on function pawl._schedule_times(pawl_data.schedule, timestamptz, timestamptz, int) is 'nominal times of a schedule';

create or replace function pawl._next_time(p_schedule pawl_data.schedule, p_after timestamptz)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_until timestamptz := case when p_schedule.once_at is not null then timestamptz 'infinity'
                                else greatest(p_after, p_schedule.starts_at) + interval '78900 hours' end;
begin
    return coalesce((select t.at from pawl._schedule_times(p_schedule, p_after, v_until, 1) t), timestamptz 'infinity');
end
$$;
comment on function pawl._next_time(pawl_data.schedule, timestamptz) is 'the first nominal time of a schedule after another; infinity: there is none';

-- When a nominal time is to be fired. The part of jitter follows from name and time, so that every session computes the same.
create or replace function pawl._jittered(p_schedule pawl_data.schedule, p_at timestamptz)
returns timestamptz
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_digest bytea;
begin
    if p_schedule.jitter = interval '0' or p_at = 'infinity' then
        return p_at;
    end if;
    v_digest := sha256(convert_to(p_schedule.name || ' ' || date_part('epoch', p_at)::bigint, 'UTF8'));
    return p_at + make_interval(secs => date_part('epoch', p_schedule.jitter)
        * (get_byte(v_digest, 0) * 65536 + get_byte(v_digest, 1) * 256 + get_byte(v_digest, 2)) / 16777216);
end
$$;
comment on function pawl._jittered(pawl_data.schedule, timestamptz) is 'when a nominal time is to be fired';

-- The catch_up of the pause in which the time lay; null if it lay in none.
create or replace function pawl._catch_up_of_pause(p_schedule pawl_data.schedule, p_at timestamptz)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_at >= p_schedule.paused_at and p_at < p_schedule.resumed_at then
        return p_schedule.resumed_catch_up;
    end if;
    if p_schedule.earlier_pauses = '{}' then
        return null;
    end if;
    return (
        select e.catch_up from unnest(p_schedule.earlier_pauses, p_schedule.earlier_catch_ups) e (pause, catch_up)
        where e.pause @> p_at
        limit 1);
end
$$;
comment on function pawl._catch_up_of_pause(pawl_data.schedule, timestamptz) is 'how a nominal time in a pause is handled';

-- A time is late if it is fired more than a minute after it was due, or lay in a pause: then catch_up decides.
create or replace function pawl._is_late(p_schedule pawl_data.schedule, p_at timestamptz, p_now timestamptz)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:late_minute
    return pawl._jittered(p_schedule, p_at) < p_now - interval '1 min' or pawl._catch_up_of_pause(p_schedule, p_at) is not null;
end
$$;
comment on function pawl._is_late(pawl_data.schedule, timestamptz, timestamptz) is 'whether catch_up decides about a nominal time';

-- The object with one member more, at its end. Its other bytes stay as they are.
create or replace function pawl._with_member(p_object json, p_name text, p_value json)
returns json
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_text text := btrim(coalesce(p_object::text, '{}'), e' \t\r\n');
begin
    return (left(v_text, -1) || case when exists (select from json_object_keys(v_text::json)) then ', ' else '' end
            || to_json(p_name) || ': ' || p_value || '}')::json;
end
$$;
comment on function pawl._with_member(json, text, json) is 'a JSON object with one member more';

-- Triggers the run of a nominal time; created is false if the time has its run already. The caller has locked the schedule.
create or replace function pawl._trigger_scheduled(
    p_schedule pawl_data.schedule, p_at timestamptz, p_now timestamptz, out run_id uuid, out created boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow := pawl._workflow(p_schedule.workflow);
    v_key text := format('schedule/%s/%s', p_schedule.name, date_part('epoch', p_at)::bigint);
    v_scheduled json := json_build_object('by', p_schedule.name, 'at', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'local', to_char(p_at at time zone p_schedule.zone, 'YYYY-MM-DD"T"HH24:MI:SS'), 'zone', p_schedule.zone);
    v_input json := pawl._with_member(p_schedule.input, 'scheduled', v_scheduled);
begin
    if v_workflow.flow then
        perform pawl._check_flow(v_workflow.workflow_id);
    end if;
    run_id := pawl._id_make(p_now, pawl._key_slot(p_schedule.tenant, p_schedule.workflow, v_key));
    -- 1. A schedule is deleted, and created again under the same name. 2. Its next time is one that the deleted one has fired. Or an operator
    -- backfills times that have been fired. The key is taken then, whatever the input was: the time has its run. No transaction waits here,
    -- because no other call takes such a key without the lock of the schedule.
    -- guard:fire_key
    select h.run_id, h.taken into _trigger_scheduled.run_id, created
    from pawl._hold_key(p_now, v_workflow.workflow_id, p_schedule.tenant, v_key, sha256(convert_to(v_input::text, 'UTF8')), _trigger_scheduled.run_id, null) h;
    if not created then
        return;
    end if;
    perform pawl._insert_run(p_now, v_workflow.queue_id, v_workflow.run_timeout, v_workflow.expires, case when v_workflow.flow then v_workflow.workflow_id end,
        run_id, false, v_input, p_schedule.tenant, coalesce(p_schedule.priority, v_workflow.priority), null,
        pawl._with_member(p_schedule.metadata, 'scheduled', v_scheduled), v_key, p_schedule.limit_key, null, null, null, false);
    if not v_workflow.flow then
        perform pawl._wake_one(v_workflow.queue_id, p_schedule.tenant, p_now);
    end if;
end
$$;
comment on function pawl._trigger_scheduled(pawl_data.schedule, timestamptz, timestamptz) is 'triggers the run of a nominal time';

-- Notes times that were skipped, as the continuation of the row at p_schedule.skip_at if that has the same reason. Returns the schedule with its new
-- counts and skip_at.
create or replace function pawl._note_skips(
    p_schedule pawl_data.schedule, p_first timestamptz, p_last timestamptz, p_times bigint, p_reason text, p_run uuid, p_now timestamptz)
returns pawl_data.schedule
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    update pawl_data.schedule_skip k
    set last_at = greatest(k.last_at, p_last), times = k.times + p_times, noted_at = p_now
    where k.schedule_id = p_schedule.schedule_id and k.first_at = p_schedule.skip_at and k.reason = p_reason and k.run_id is not distinct from p_run;
    if not found then
        insert into pawl_data.schedule_skip as k (schedule_id, first_at, last_at, times, reason, run_id, noted_at)
        values (p_schedule.schedule_id, p_first, p_last, p_times, p_reason, p_run, p_now)
        on conflict on constraint schedule_skip_pkey do update
        set last_at = greatest(k.last_at, excluded.last_at), times = k.times + excluded.times, noted_at = excluded.noted_at;
        p_schedule.skip_at := p_first;
    end if;
    if p_reason = 'overlap' then
        p_schedule.skipped := p_schedule.skipped + p_times;
    else
        p_schedule.missed := p_schedule.missed + p_times;
    end if;
    return p_schedule;
end
$$;
comment on function pawl._note_skips(pawl_data.schedule, timestamptz, timestamptz, bigint, text, uuid, timestamptz) is 'notes nominal times at which no run was triggered';

-- The times that are due now, oldest first, at most 1,001. Nearly always there is one.
create or replace function pawl._due_times(p_schedule pawl_data.schedule, p_next timestamptz, p_now timestamptz)
returns timestamptz[]
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_schedule.next_at > p_now then
        return array[]::timestamptz[];
    end if;
    if p_next > p_now then
        return array[p_schedule.next_at];
    end if;
    return p_schedule.next_at || array(select t.at from pawl._schedule_times(p_schedule, p_schedule.next_at, p_now, 1000) t order by t.at);
end
$$;
comment on function pawl._due_times(pawl_data.schedule, timestamptz, timestamptz) is 'nominal times of a schedule that have come';

-- Decides about a time that has come: fire, wait, overlap, missed or paused. p_newest: the newest time that is late. p_lives: the run of
-- an earlier time has not ended.
create or replace function pawl._fate_of(
    p_schedule pawl_data.schedule, p_at timestamptz, p_newest timestamptz, p_lives boolean, p_now timestamptz)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_of_pause text := pawl._catch_up_of_pause(p_schedule, p_at);
    v_catch_up text := coalesce(v_of_pause, p_schedule.catch_up);
begin
    -- guard:catch_up
    if pawl._is_late(p_schedule, p_at, p_now)
       and (v_catch_up = 'none' or v_catch_up = 'last' and p_at <> p_newest
            -- guard:catch_up_within
            or p_at < pawl._shift(p_now, - p_schedule.catch_up_within)) then
        return case when v_of_pause is not null then 'paused' else 'missed' end;
    end if;
    -- guard:overlap
    return case when not p_lives or p_schedule.overlap = 'allow' then 'fire' when p_schedule.overlap = 'skip' then 'overlap' else 'wait' end;
end
$$;
comment on function pawl._fate_of(pawl_data.schedule, timestamptz, timestamptz, boolean, timestamptz) is 'what becomes of a nominal time that has come';

-- Handles the times of one schedule that have come, and moves it on. The caller has locked its row.
create or replace function pawl._fire_one(p_schedule pawl_data.schedule, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    s pawl_data.schedule := p_schedule;
    v_next timestamptz := case when p_schedule.next_at <= p_now then pawl._next_time(p_schedule, p_schedule.next_at) end;
    v_times timestamptz[] := pawl._due_times(p_schedule, v_next, p_now);
    v_newest timestamptz;
    v_at timestamptz;
    v_fate text;
    v_fired int := 0;
    v_created boolean;
    v_lives boolean;
    v_backlog boolean := false;
    -- Times that follow each other and are skipped for one reason, noted together.
    v_reason text;
    v_first timestamptz;
    v_last timestamptz;
    v_skips bigint := 0;
begin
    -- With more than 1,000 times the newest is not among these.
    -- guard:fire_newest
    v_newest := case when cardinality(v_times) <= 1000
                     then (select max(t) from unnest(v_times) t where pawl._is_late(s, t, p_now)) else 'infinity' end;
    v_lives := s.last_run is not null and pawl._lives(s.last_run);
    -- guard:waiting_fires
    if s.waiting_at is not null and not v_lives then
        select t.run_id, t.created into s.last_run, v_created from pawl._trigger_scheduled(s, s.waiting_at, p_now) t;
        s.last_at := s.waiting_at;
        s.waiting_at := null;
        s.skip_at := null;
        s.fired := s.fired + v_created::int;
        v_lives := true;
    end if;
    foreach v_at in array v_times || timestamptz 'infinity' loop
        -- guard:fire_jitter
        v_fate := case when pawl._jittered(s, v_at) > p_now then 'future' else pawl._fate_of(s, v_at, v_newest, v_lives, p_now) end;
        if v_reason is not null and v_fate is distinct from v_reason then
            s := pawl._note_skips(s, v_first, v_last, v_skips, v_reason, case when v_reason = 'overlap' then s.last_run end, p_now);
            v_reason := null;
        end if;
        -- 1. A schedule for each second, with catch_up all, was not fired for an hour. 2. It is fired. Without the bound one transaction would
        -- trigger a thousand runs, and other schedules would wait for it.
        -- guard:fire_share
        v_backlog := v_fate = 'fire' and v_fired >= 20;
        exit when v_fate = 'future' or v_backlog;
        if v_fate = 'fire' then
            select t.run_id, t.created into s.last_run, v_created from pawl._trigger_scheduled(s, v_at, p_now) t;
            s.last_at := v_at;
            s.skip_at := null;
            s.fired := s.fired + v_created::int;
            v_fired := v_fired + 1;
            v_lives := true;
        elsif v_fate = 'wait' then
            -- guard:waiting_listed
            if s.waiting_at is not null then
                s := pawl._note_skips(s, s.waiting_at, s.waiting_at, 1, 'overlap', s.last_run, p_now);
            end if;
            s.waiting_at := v_at;
        else
            v_first := case when v_reason is null then v_at else v_first end;
            v_skips := case when v_reason is null then 1 else v_skips + 1 end;
            v_last := v_at;
            v_reason := v_fate;
        end if;
        -- guard:fire_moves_on
        s.handled_at := v_at;
    end loop;
    if s.handled_at = p_schedule.next_at then
        s.next_at := v_next;
    elsif s.handled_at > p_schedule.handled_at then
        s.next_at := pawl._next_time(s, s.handled_at);
    end if;
    -- 1. Schedules with a backlog of a day were resumed. 2. Each has its turn, with twenty runs. Without the later fire_at the first would have
    -- all turns until its backlog is done.
    -- guard:fire_turns
    s.fire_at := case when v_backlog then p_now else pawl._jittered(s, s.next_at) end;
    if s.waiting_at is not null then
        if s.overlap = 'cancel' then
            perform pawl._cancel_last(s, p_now);
        end if;
        -- No call tells that a run has ended. It is looked for after a second, and less often the longer that takes.
        s.fire_at := least(s.fire_at, p_now + least(greatest((p_now - s.waiting_at) / 10, interval '1 s'), interval '1 min'));
    end if;
    update pawl_data.schedule c
    set handled_at = s.handled_at, next_at = s.next_at, fire_at = s.fire_at, computed_at = p_now, backlog = v_backlog, waiting_at = s.waiting_at,
        last_at = s.last_at, last_run = s.last_run, fired = s.fired, skipped = s.skipped, missed = s.missed, skip_at = s.skip_at, last_error = null, failed_at = null
    where c.schedule_id = s.schedule_id;
end
$$;
comment on function pawl._fire_one(pawl_data.schedule, timestamptz) is 'handles the nominal times of a schedule that have come';

-- Cancels the run of an earlier time for the one that waits (overlap cancel). If another transaction has the run, the next look tries again.
create or replace function pawl._cancel_last(p_schedule pawl_data.schedule, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_task pawl_data.task;
begin
    select t.* into v_task
    from pawl_data.task t
    where t.run_id = p_schedule.last_run and t.task_no = 0 and t.ending is null and not t.rolling_back
    -- guard:cancel_last_lock
    for update skip locked;
    if found then
        perform pawl._cancel_task(v_task, p_now, 'pawl', format('schedule %s has its next time', p_schedule.name), false);
    end if;
end
$$;
comment on function pawl._cancel_last(pawl_data.schedule, timestamptz) is 'cancels the run of an earlier nominal time';

-- The piece of a tick that fires schedules: up to p_max that are due, of one tenant if p_tenant is given. Returns how many.
create or replace function pawl._fire(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
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
    v_until timestamptz := clock_timestamp() + interval '10 ms';
    v_due pawl_data.schedule[];
    v_schedule pawl_data.schedule;
    v_count int := 0;
begin
    -- 1. A and B tick at the same time. 2. A locks the schedules that are due, and fires them. 3. B skips these, or, if A has committed, sees
    -- that they are due no more. Without the lock both would fire them, and B would move them on a second time.
    if p_tenant is null then
        -- guard:schedule_paused
        -- guard:fire_skip_locked
        v_due := array(
            select s from pawl_data.schedule s where not s.paused and s.fire_at <= p_now and not s.backlog order by s.fire_at limit p_max for update skip locked);
    else
        -- guard:fire_tenant
        v_due := array(
            select s from pawl_data.schedule s
            -- guard:fire_tenant_skip_locked
            where s.tenant = p_tenant and not s.paused and s.fire_at <= p_now and not s.backlog order by s.fire_at limit p_max for update skip locked);
    end if;
    -- 1. A tenant resumes a thousand schedules with a backlog of a day each. 2. Schedules of others are due. They are fired before: those that
    -- have a backlog get the places that are left.
    if cardinality(v_due) < p_max then
        v_due := v_due || array(
            select s from pawl_data.schedule s
            -- guard:backlog_tenant
            where s.backlog and (p_tenant is null or s.tenant = p_tenant)
              -- guard:backlog_paused
              and not s.paused and s.fire_at <= p_now order by s.fire_at
            limit p_max - cardinality(v_due) for update skip locked);
    end if;
    if cardinality(v_due) > 0 then
        -- 1. A, this call, has found schedules that are due. 2. B, pause_all(), waits for A; or A waits here for B, and then sees that everything
        -- is paused. Without the lock A could fire after B has returned. A firing takes it in any case.
        -- guard:fire_pause_lock
        lock table pawl_data.task in row exclusive mode;
        -- guard:fire_all_paused
        if (select s.paused from pawl_data.setting s where s.only_row) then
            return 0;
        end if;
    end if;
    foreach v_schedule in array v_due loop
        exit when v_count > 0 and clock_timestamp() > v_until;
        v_count := v_count + 1;
        if not p_each then
            perform pawl._fire_one(v_schedule, p_now);
            continue;
        end if;
        begin
            perform pawl._fire_one(v_schedule, p_now);
        exception
            when others then
                -- 1. The flow of a schedule was deleted. 2. The schedule is due. Without the later time every tick would fail at it again, and
                -- twenty of these would leave no place for other schedules.
                -- guard:fire_deferred
                update pawl_data.schedule c set last_error = left(sqlstate || ' ' || sqlerrm, 1000), failed_at = p_now, fire_at = p_now + interval '1 min'
                where c.schedule_id = v_schedule.schedule_id;
                perform pawl._note_failure('schedules', p_now, format('schedule %s: %s %s', v_schedule.name, sqlstate, sqlerrm));
        end;
    end loop;
    return v_count;
end
$$;
comment on function pawl._fire(timestamptz, int, text, boolean) is 'fires schedules that are due';

-- Computes next_at again where it may rest on older rules of its zone: the server has been started since, or a day has passed.
create or replace function pawl._chore_calendar(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_old pawl_data.schedule[] := array(
        select s from pawl_data.schedule s
        where s.cron is not null and s.next_at < 'infinity'
          and (s.computed_at < greatest(p_now - interval '24 hours', pg_postmaster_start_time()) or s.computed_at > p_now + interval '1 hour')
        limit 200
        -- 1. An operator pauses a schedule, and keeps the transaction open. 2. The calendar is computed again. Without skipping, this and all
        -- other chores would wait for the operator.
        -- guard:calendar_skip_locked
        for update skip locked);
begin
    update pawl_data.schedule c
    set next_at = n.next_at, computed_at = p_now,
        -- guard:calendar_again
        fire_at = case when n.next_at = c.next_at then c.fire_at
                       -- 1. A time waits for the run of an earlier one, and is looked for soon. 2. The calendar has changed. Without the earlier of
                       -- both the time would wait until the next one.
                       -- guard:calendar_waiting
                       when c.waiting_at is not null then least(c.fire_at, pawl._jittered(c, n.next_at))
                       else pawl._jittered(c, n.next_at) end
    from unnest(v_old) o
    cross join lateral (select pawl._next_time(o, o.handled_at)) n (next_at)
    where c.schedule_id = o.schedule_id;
    delete from pawl_data.schedule_skip k
    where k.ctid = any (array(
        select d.ctid from pawl_data.schedule_skip d
        where d.noted_at < pawl._shift(p_now, (select - s.event_retention from pawl_data.setting s where s.only_row))
        limit 500
        for update skip locked));
    return case when cardinality(v_old) = 200 then interval '1 s' else interval '10 min' end;
end
$$;
comment on function pawl._chore_calendar(timestamptz) is 'computes the next times of schedules again, and deletes old skips';
