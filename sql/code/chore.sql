-- SPDX-License-Identifier: Apache-2.0
-- Slow housekeeping: partitions ahead, retention, old keys, topics and sessions, roll-up of metrics.

-- One chore for each call, the one that is due longest; whoever has its row does it. p_retention: only what forgets runs, or with
-- false only the others; null for any.
create or replace function pawl._do_chore(p_now timestamptz, p_retention boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_chore pawl.chore;
    v_wait interval;
    v_error text;
begin
    select c.* into v_chore
    from pawl.chore c
    -- No chore is put off for as long as an hour: further ahead means that the clock was set back. Infinity is off.
    -- guard:chore_clock
    where (c.due_at <= p_now or c.due_at > p_now + interval '1 hour' and c.due_at < 'infinity')
      and (p_retention is null or (c.chore in ('retention', 'kept')) = p_retention)
    order by c.due_at
    limit 1
    for update skip locked;
    if not found then
        return;
    end if;
    -- Whatever goes wrong in a chore must not take the claim or heartbeat with it that does it by the way. It is
    -- noted, and tried again after a minute.
    begin
        v_wait := case v_chore.chore
            when 'partitions' then pawl._chore_partitions(p_now)
            when 'retention' then pawl._chore_retention(p_now)
            when 'kept' then pawl._chore_kept(p_now, v_chore)
            when 'keys' then pawl._chore_keys(p_now, v_chore)
            when 'topics' then pawl._chore_topics(p_now, v_chore)
            when 'rollup' then pawl._chore_rollup(p_now, v_chore)
            else pawl._chore_workers(p_now) end;
    exception
        when others then
            v_wait := interval '1 min';
            v_error := sqlstate || ' ' || sqlerrm;
    end;
    update pawl.chore c set due_at = pawl._shift(p_now, v_wait), last_error = v_error where c.chore = v_chore.chore;
end
$$;
comment on function pawl._do_chore(timestamptz, boolean) is 'a bounded piece of the chore that is due longest';

create or replace function pawl._chore_partitions(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_until timestamptz := (select s.partitions_until from pawl.setting s where s.only_row);
begin
    -- As _need_partitions() has it, but earlier.
    if p_now > v_until - interval '168 hours'
       -- guard:chore_partitions_clock
       or v_until > p_now + interval '192 hours' and v_until < 'infinity' then
        perform pawl._make_partitions(p_now);
    end if;
    return interval '10 min';
end
$$;
comment on function pawl._chore_partitions(timestamptz) is 'keeps partitions seven days ahead';

-- Partitions of days before p_day, oldest first.
create or replace function pawl._old_partitions(p_table text, p_day date)
returns table (name text, day date)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    -- Materialized, or the names of other tables would be read as dates, too.
    with part as materialized (
        select c.relname::text as name
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = ('pawl.' || p_table)::regclass
    )
    select p.name, to_date(right(p.name, 8), 'YYYYMMDD')
    from part p
    where to_date(right(p.name, 8), 'YYYYMMDD') < p_day
    order by p.name;
end
$$;
comment on function pawl._old_partitions(text, date) is 'partitions that hold ids of earlier days';

-- Asked row by row from a bounded piece: as a join, the planner might read the whole of a table that it
-- believes to be small.
create or replace function pawl._lives(p_id uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl.task t where t.run_id = p_id);
end
$$;
comment on function pawl._lives(uuid) is 'whether a run has not ended, or lives again';

create or replace function pawl._kept_since(p_id uuid, p_since timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl.run_kept k where k.run_id = p_id and k.ended_at >= p_since);
end
$$;
comment on function pawl._kept_since(uuid, timestamptz) is 'whether a kept run has a round that ended then or later';

-- Drops at most one day for each call. Runs that live still are kept apart first, under their locks; if
-- one of them is locked by somebody, or the partition is in use, the next call tries again.
create or replace function pawl._chore_retention(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_setting pawl.setting;
begin
    select s.* into v_setting from pawl.setting s where s.only_row;
    return case when pawl._drop_days(p_now, v_setting) then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_retention(timestamptz) is 'drops history that is older than the retention';

-- Kept runs of which every round ended before the retention and that do not live, with all that hangs on them. Walks by the end of
-- each round, a piece at a time: an early round of a run that lives again, or has a later round, stands in the way for as long.
create or replace function pawl._chore_kept(p_now timestamptz, p_chore pawl.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_before timestamptz := pawl._shift(p_now, (select - s.retention from pawl.setting s where s.only_row));
    -- The end in microseconds since 1970, and the run: the last that was looked at.
    v_from json := coalesce(p_chore.position, '[null, "00000000-0000-0000-0000-000000000000"]')::json;
    v_round record;
    v_last json;
    v_looked int := 0;
    v_rows bigint := 0;
    v_old uuid[] := array[]::uuid[];
begin
    for v_round in
        select k.run_id, k.ended_at
        from pawl.run_kept k
        where (k.ended_at, k.run_id) > (
            coalesce(timestamptz 'epoch' + (v_from ->> 0)::bigint * interval '1 microsecond', '-infinity'), (v_from ->> 1)::uuid)
          and k.ended_at < v_before
        order by k.ended_at, k.run_id
        limit 1000
    loop
        -- A run may have very many records, and goes in one piece.
        -- guard:kept_rows
        exit when v_rows >= 10000;
        v_looked := v_looked + 1;
        v_last := json_build_array((extract(epoch from v_round.ended_at) * 1000000)::bigint, v_round.run_id);
        continue when pawl._lives(v_round.run_id) or pawl._kept_since(v_round.run_id, v_before);
        -- What retry, fork and purge hold is left to them. Locked only now: the table of locks has its bounds.
        -- guard:forget_lock
        continue when not pg_try_advisory_xact_lock(hashtextextended(v_round.run_id::text, 11));
        -- Whoever had it may have let it live again.
        continue when pawl._lives(v_round.run_id) or v_round.run_id = any (v_old);
        v_old := v_old || v_round.run_id;
        v_rows := v_rows + 20 + (select count(*) from pawl.step_kept d where d.run_id = v_round.run_id);
    end loop;
    delete from pawl.step_kept d where d.run_id = any (v_old);
    delete from pawl.audit_kept d where d.run_id = any (v_old);
    delete from pawl.note_kept d where d.run_id = any (v_old);
    delete from pawl.input_kept d where d.run_id = any (v_old);
    delete from pawl.run_kept d where d.run_id = any (v_old);
    -- guard:kept_goes_on
    update pawl.chore c set position = case when v_looked = 1000 or v_rows >= 10000 then v_last::text end where c.chore = 'kept';
    return case when v_looked = 1000 or v_rows >= 10000 then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_kept(timestamptz, pawl.chore) is 'removes kept runs that are past their time';

-- Drops what is past its time; true if there may be more.
create or replace function pawl._drop_days(p_now timestamptz, p_setting pawl.setting)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_day date;
    v_name text;
begin
    select o.name into v_name
    from pawl._old_partitions('event', (pawl._shift(p_now, - p_setting.event_retention) at time zone 'UTC')::date) o limit 1;
    if found then
        return pawl._drop_partitions(array[v_name], array['event']);
    end if;
    -- A run of a day ends within one more day or is kept apart: so the day is past its time two days later.
    select o.day into v_day
    from pawl._old_partitions('run', ((pawl._shift(p_now, - p_setting.retention) - interval '24 hours') at time zone 'UTC')::date) o limit 1;
    if not found or not pawl._keep_piece(v_day, 50) then
        return found;
    end if;
    return pawl._drop_partitions(
        array[pawl._partition_name('run', v_day), pawl._partition_name('input', v_day),
              pawl._partition_name('step', v_day), pawl._partition_name('audit', v_day),
              pawl._partition_name('note', v_day)],
        array['run', 'input', 'step', 'audit', 'note']);
end
$$;
comment on function pawl._drop_days(timestamptz, pawl.setting) is 'drops the oldest day that is past its time';

-- Keeps the rows of runs of that day that have not ended; those of earlier days are gone, or kept. Kept runs stay where they are
-- for as long as they live, so a walk goes on where the last one came to, p_most runs at a time: from the beginning each time,
-- it would pass all of them for each few that it keeps. True at the end of a walk that has left nobody out.
create or replace function pawl._keep_piece(p_day date, p_most int)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    -- The day, the last run that was looked at, whether one was passed over.
    v_position json := (select c.position from pawl.chore c where c.chore = 'retention')::json;
    v_key text := to_char(p_day, 'YYYYMMDD');
    v_same boolean := coalesce(v_position ->> 0 = v_key, false);
    -- guard:keep_goes_on
    v_last uuid := case when v_same then (v_position ->> 1)::uuid
                        else pawl._id_floor(p_day::timestamp at time zone 'UTC') end;
    v_passed_over boolean := v_same and (v_position ->> 2)::boolean;
    v_looked int := 0;
    v_kept int := 0;
    v_ended boolean;
    v_task record;
begin
    for v_task in
        select t.run_id, t.task_no, t.kept
        from pawl.task t
        where t.run_id > v_last and t.run_id < pawl._id_floor((p_day + 1)::timestamp at time zone 'UTC')
        order by t.run_id, t.task_no
        limit 1000
    loop
        exit when v_kept >= p_most;
        v_looked := v_looked + 1;
        v_last := v_task.run_id;
        continue when v_task.task_no > 0 or v_task.kept;
        perform from pawl.task t where t.run_id = v_task.run_id and t.task_no = 0 and not t.kept for update skip locked;
        -- Of a flow all tasks; a piece of it that somebody holds keeps the day for the next walk.
        if found and pawl._lock_tasks(v_task.run_id) then
            perform pawl._keep(v_task.run_id);
            update pawl.task t set kept = true where t.run_id = v_task.run_id;
            v_kept := v_kept + 1;
        else
            -- The drop would find it, too, but only under a lock that everybody waits for.
            v_passed_over := true;
        end if;
    end loop;
    v_ended := v_looked < 1000 and v_kept < p_most;
    update pawl.chore c
    set position = case when not v_ended or not v_passed_over then json_build_array(v_key, v_last, v_passed_over)::text end
    where c.chore = 'retention';
    return v_ended and not v_passed_over;
end
$$;
comment on function pawl._keep_piece(date, int) is 'moves rows of living runs out of a day that is to be dropped, a piece at a time';

-- Detaches and drops. The lock on the parent is asked for with a short timeout: others wait behind it for
-- that long at most, and the next round of housekeeping tries again.
create or replace function pawl._drop_partitions(p_names text[], p_parents text[])
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set lock_timeout to '20ms'
as $$
declare
    v_day date;
    v_lives boolean := false;
begin
    for v_n in 1..cardinality(p_names) loop
        continue when to_regclass('pawl.' || p_names[v_n]) is null;
        -- Dynamic because the name of a partition is made of its day.
        execute format('alter table pawl.%I detach partition pawl.%I', p_parents[v_n], p_names[v_n]);
        -- A run may have become a living one between the look and the lock: then all is undone.
        if p_parents[v_n] = 'run' then
            v_day := to_date(right(p_names[v_n], 8), 'YYYYMMDD');
            -- guard:drop_lives
            v_lives := exists (
                select from pawl.task t
                where t.run_id > pawl._id_floor(v_day::timestamp at time zone 'UTC')
                  and t.run_id < pawl._id_floor((v_day + 1)::timestamp at time zone 'UTC')
                  and not t.kept);
            if v_lives then
                raise exception using errcode = '55P03', message = 'a run of this day lives again';
            end if;
        end if;
        -- Dynamic for the same reason.
        execute format('drop table pawl.%I', p_names[v_n]);
    end loop;
    return true;
exception
    -- Not the hot path: without this the caller''s claim or heartbeat would fail with the drop.
    when lock_not_available or deadlock_detected then
        if v_lives then
            -- It may stand before what the walk has come to.
            -- guard:keep_anew
            update pawl.chore c set position = null where c.chore = 'retention';
        end if;
        return true;
end
$$;
comment on function pawl._drop_partitions(text[], text[]) is 'drops partitions, or leaves them all for another time';

-- Whether the time of a key is over: its own, or that of its run, which is not gone before its retention is over.
create or replace function pawl._key_is_over(p_key pawl.key, p_now timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_key.expires_at is not null then
        return p_key.expires_at <= p_now;
    end if;
    -- guard:key_of_nobody
    return p_key.run_id < pawl._id_floor(pawl._shift(p_now, (select - s.retention from pawl.setting s where s.only_row)))
        and not pawl._lives(p_key.run_id) and not exists (select from pawl._runs(array[p_key.run_id]));
end
$$;
comment on function pawl._key_is_over(pawl.key, timestamptz) is 'whether a key stands for nothing any more';

-- Keys whose time is over, or whose run is no longer retained. Walks the table a piece at a time.
create or replace function pawl._chore_keys(p_now timestamptz, p_chore pawl.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set enable_hashjoin to off
set enable_mergejoin to off
set jit to off
as $$
declare
    v_from json := coalesce(p_chore.position, '["", "", 0]')::json;
    v_piece record;
begin
    with piece as materialized (
        select k.*
        from pawl.key k
        where (k.key, k.tenant, k.workflow_id) > (v_from ->> 0, v_from ->> 1, (v_from ->> 2)::int)
        order by k.key, k.tenant, k.workflow_id
        limit 1000
    ), old as materialized (
        -- Nothing else is locked: the end of a run waits for the row of the key that it frees.
        select k.ctid
        from piece p
        join pawl.key k on k.tenant = p.tenant and k.workflow_id = p.workflow_id and k.key = p.key and k.run_id = p.run_id
        -- guard:keys_old_only
        where pawl._key_is_over(k, p_now)
        for update of k skip locked
    ), gone as (
        delete from pawl.key d where d.ctid = any (array(select o.ctid from old o))
    )
    select count(*) as n,
           (array_agg(json_build_array(p.key, p.tenant, p.workflow_id) order by p.key desc, p.tenant desc, p.workflow_id desc))[1] as last
    into v_piece
    from piece p;
    update pawl.chore c
    set position = case when v_piece.n = 1000 then v_piece.last::text end
    where c.chore = 'keys';
    return case when v_piece.n = 1000 then interval '1 s' else interval '10 min' end;
end
$$;
comment on function pawl._chore_keys(timestamptz, pawl.chore) is 'removes keys that stand for nothing';

-- Meeting points that nobody has come to for as long as events are kept. Walks the table a piece at a time.
create or replace function pawl._chore_topics(p_now timestamptz, p_chore pawl.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_from json := coalesce(p_chore.position, '["", "", ""]')::json;
    v_old timestamptz := pawl._shift(p_now, (select - s.event_retention from pawl.setting s where s.only_row));
    v_count int;
    v_last json;
begin
    select count(*)::int, (array_agg(json_build_array(p.tenant, p.topic, p.key) order by p.tenant desc, p.topic desc, p.key desc))[1]
    into v_count, v_last
    from (
        select o.tenant, o.topic, o.key
        from pawl.topic o
        where (o.tenant, o.topic, o.key) > (v_from ->> 0, v_from ->> 1, v_from ->> 2)
        order by o.tenant, o.topic, o.key
        limit 1000
    ) p;
    delete from pawl.topic o
    where o.ctid = any (array(
        select d.ctid
        from pawl.topic d
        where (d.tenant, d.topic, d.key) > (v_from ->> 0, v_from ->> 1, v_from ->> 2)
          and (d.tenant, d.topic, d.key) <= (v_last ->> 0, v_last ->> 1, v_last ->> 2)
          and d.touched_at < v_old and not pawl._is_awaited(d.tenant, d.topic, d.key)
        order by d.tenant, d.topic, d.key
        limit 1000
        for update skip locked));
    delete from pawl.queue_mark m where m.marked_at < p_now - interval '1 min';
    update pawl.chore c set position = case when v_count = 1000 then v_last::text end where c.chore = 'topics';
    return case when v_count = 1000 then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_topics(timestamptz, pawl.chore) is 'removes meeting points that nobody uses, and old marks';

create or replace function pawl._is_awaited(p_tenant text, p_topic text, p_key text)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (
        select from pawl.wait w where w.kind = 3 and w.tenant = p_tenant and w.topic = p_topic and w.key = p_key);
end
$$;
comment on function pawl._is_awaited(text, text, text) is 'whether a wait is open for a topic and key';

create or replace function pawl._chore_workers(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_session bigint;
begin
    -- A claim that was still open when its session ended holds what nobody else would take back.
    for v_session in
        with recursive holder (session_id) as (
            (select t.session_id from pawl.task t where t.place = 2 order by t.session_id limit 1)
            union all
            select (select t.session_id from pawl.task t where t.place = 2 and t.session_id > h.session_id
                    order by t.session_id limit 1)
            from holder h where h.session_id is not null
        )
        select h.session_id
        from holder h
        where h.session_id is not null
          -- guard:orphans
          and not exists (select from pawl.worker w where w.session_id = h.session_id and w.ended_at is null)
        limit 10
    loop
        perform pawl._release_held(v_session, p_now, 500, true);
    end loop;
    delete from pawl.worker w
    where w.session_id = any (array(
        select d.session_id from pawl.worker d
        where d.ended_at < pawl._shift(p_now, (select - s.retention from pawl.setting s where s.only_row)) limit 500));
    delete from pawl.metric m
    where m.minute < pawl._shift(p_now, (select - s.retention from pawl.setting s where s.only_row)) - interval '720 hours';
    return interval '10 s';
end
$$;
comment on function pawl._chore_workers(timestamptz) is 'takes back what ended sessions still hold, and forgets those that ended long ago';

-- Events that had more waits than one emit settles: a page of one of them. A run that somebody holds is passed
-- over; at the end the walk begins anew for those.
create or replace function pawl._deliver_more(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
declare
    v_delivery pawl.delivery;
    v_event pawl.event;
    v_paths text[];
    v_page record;
begin
    select d.* into v_delivery
    from pawl.delivery d
    -- None is put off for more than a second: far ahead means that the clock was set back.
    -- guard:delivery_clock
    where d.due_at <= p_now or d.due_at > p_now + interval '1 hour' and d.due_at < 'infinity'
    order by d.due_at
    limit 1
    for update skip locked;
    if not found then
        return;
    end if;
    select e.* into v_event from pawl.event e where e.event_id = v_delivery.event_id;
    if not found then
        delete from pawl.delivery d where d.event_id = v_delivery.event_id;
        return;
    end if;
    select o.path_sets into v_paths
    from pawl.topic o where o.tenant = v_event.tenant and o.topic = v_event.topic and o.key = v_event.key;
    select d.* into v_page from pawl._deliver(v_event, v_paths, 500, p_now, false, v_delivery.after) d;
    if v_page.last is null and not (v_delivery.passed_over or v_page.passed_over) then
        delete from pawl.delivery d where d.event_id = v_delivery.event_id;
        return;
    end if;
    update pawl.delivery d
    set after = coalesce(v_page.last, '00000000-0000-0000-0000-000000000000'),
        passed_over = v_page.last is not null and (d.passed_over or v_page.passed_over),
        due_at = case when v_page.last is null then p_now + interval '1 s' else least(d.due_at, p_now) end
    where d.event_id = v_delivery.event_id;
end
$$;
comment on function pawl._deliver_more(timestamptz) is 'settles further waits for an event that had many';

-- Ended runs by workflow and minute, counted once a minute has been over for one more.
create or replace function pawl._chore_rollup(p_now timestamptz, p_chore pawl.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Kept as seconds since 1970: a timestamp as text would depend on the settings of whoever wrote it.
    v_from timestamptz := to_timestamp(p_chore.position::float8);
    v_to timestamptz;
begin
    -- Never, or until a moment that is far ahead: the clock was set back.
    -- guard:rollup_clock
    if v_from is null or v_from > p_now + interval '1 hour' then
        v_from := date_trunc('minute', p_now) - interval '3 min';
    end if;
    v_to := least(date_trunc('minute', p_now) - interval '1 min', v_from + interval '10 min');
    if v_to <= v_from then
        return interval '10 s';
    end if;
    insert into pawl.metric (workflow_id, minute, tenant, succeeded, failed, cancelled, seconds_sum, seconds_max, waited_sum)
    select q.workflow_id, date_trunc('minute', r.ended_at), r.tenant, count(*) filter (where r.status = 1),
           count(*) filter (where r.status = 2), count(*) filter (where r.status = 3),
           sum(date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at))),
           max(date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at))),
           sum(date_part('epoch', coalesce(r.started_at, r.ended_at) - r.triggered_at))
    from pawl._ended_between(v_from, v_to) r
    join pawl.queue q on q.queue_id = r.queue_id
    group by 1, 2, 3
    on conflict on constraint metric_pkey do update
    set succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
        seconds_sum = excluded.seconds_sum, seconds_max = excluded.seconds_max, waited_sum = excluded.waited_sum;
    update pawl.chore c set position = date_part('epoch', v_to)::bigint::text where c.chore = 'rollup';
    return interval '10 s';
end
$$;
comment on function pawl._chore_rollup(timestamptz, pawl.chore) is 'counts the runs that ended, by minute';

-- Runs that ended in [p_from, p_to). Reads the partitions of the last two days from their ends backwards,
-- page by page, until it meets rows that ended well before p_from.
create or replace function pawl._ended_between(p_from timestamptz, p_to timestamptz)
returns table (queue_id int, status smallint, tenant text, triggered_at timestamptz, started_at timestamptz, ended_at timestamptz)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set jit to off
as $$
declare
    v_day date;
    v_name regclass;
    v_page bigint;
    v_end bigint;
    v_oldest timestamptz;
begin
    -- Counted in days: as moments they would be midnights of the caller's time zone, and some days have none.
    for v_day in
        select (p_from at time zone 'UTC')::date + d
        from generate_series(-1, (p_to at time zone 'UTC')::date - (p_from at time zone 'UTC')::date) d
    loop
        v_name := to_regclass('pawl.' || pawl._partition_name('run', v_day));
        continue when v_name is null;
        v_page := pg_relation_size(v_name) / current_setting('block_size')::bigint;
        while v_page > 0 loop
            -- Not 64 from there: the first piece of a partition is shorter.
            v_end := v_page;
            v_page := greatest(v_page - 64, 0);
            -- Dynamic because the name of a partition is made of its day; reads 64 pages by their addresses.
            return query execute format('select r.queue_id, r.status, r.tenant, r.triggered_at, r.started_at, r.ended_at
                from %s r where r.ctid >= %L::tid and r.ctid < %L::tid and r.ended_at >= $1 and r.ended_at < $2',
                v_name, format('(%s,0)', v_page), format('(%s,0)', v_end)) using p_from, p_to;
            -- Dynamic for the same reason.
            execute format('select min(r.ended_at) from %s r where r.ctid >= %L::tid and r.ctid < %L::tid',
                v_name, format('(%s,0)', v_page), format('(%s,0)', v_page + 1)) into v_oldest;
            exit when v_oldest < p_from - interval '2 min';
        end loop;
    end loop;
    return query
    select k.queue_id, k.status, k.tenant, k.triggered_at, k.started_at, k.ended_at
    from pawl.run_kept k where k.ended_at >= p_from and k.ended_at < p_to;
end
$$;
comment on function pawl._ended_between(timestamptz, timestamptz) is 'runs that ended within a time, from the ends of recent partitions';
