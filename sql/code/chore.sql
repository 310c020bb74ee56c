-- SPDX-License-Identifier: Apache-2.0
-- Slow housekeeping: partitions ahead, retention, old keys, topics and sessions, roll-up of metrics. Each chore is a row of pawl_data.chore.

-- One chore for each call, the one that is due longest; the transaction that has its row does it. With p_tables only the one that takes
-- empty tables away, which others wait for; without, only the others. True if there was one to do.
create or replace function pawl._do_chore(p_now timestamptz, p_tables boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_chore pawl_data.chore;
    v_wait interval;
    v_error text;
begin
    select c.* into v_chore
    from pawl_data.chore c
    -- No chore is put off for as long as an hour: further ahead means that the clock was set back. Infinity is off.
    -- guard:chore_clock
    where (c.due_at <= p_now or c.due_at > p_now + interval '1 hour' and c.due_at < 'infinity')
      and c.chore not in ('timers', 'sessions', 'limits', 'deliveries', 'claims') and (c.chore = 'tables') = p_tables
    order by c.due_at
    limit 1
    for update skip locked;
    if not found then
        return false;
    end if;
    -- What fails in a chore is undone and noted, and tried again after a minute.
    begin
        v_wait := case v_chore.chore
            when 'partitions' then pawl._chore_partitions(p_now)
            when 'retention' then pawl._chore_retention(p_now)
            when 'kept' then pawl._chore_kept(p_now, v_chore)
            when 'keys' then pawl._chore_keys(p_now, v_chore)
            when 'topics' then pawl._chore_topics(p_now, v_chore)
            when 'rollup' then pawl._chore_rollup(p_now, v_chore)
            when 'tables' then pawl._chore_tables(p_now)
            else pawl._chore_workers(p_now) end;
    exception
        when others then
            v_wait := interval '1 min';
            v_error := sqlstate || ' ' || sqlerrm;
    end;
    update pawl_data.chore c
    set due_at = pawl._shift(p_now, v_wait), last_error = v_error, failed_at = case when v_error is not null then p_now end
    where c.chore = v_chore.chore;
    return true;
end
$$;
comment on function pawl._do_chore(timestamptz, boolean) is 'a bounded piece of the chore that is due longest';

-- Notes that a run, or a piece as a whole, could not be handled; doctor() shows it for ten minutes. At most every ten seconds, so that the
-- row does not change at every tick; and not at all while another transaction has the row.
create or replace function pawl._note_failure(p_piece text, p_now timestamptz, p_error text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    perform from pawl_data.chore c
    where c.chore = p_piece and (c.failed_at is null or c.failed_at < p_now - interval '10 s' or c.failed_at > p_now)
    -- guard:note_skip_locked
    for update skip locked;
    if found then
        update pawl_data.chore c set last_error = left(p_error, 1000), failed_at = p_now where c.chore = p_piece;
    end if;
end
$$;
comment on function pawl._note_failure(text, timestamptz, text) is 'notes what failed in a piece of housekeeping';

create or replace function pawl._chore_partitions(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_until timestamptz := (select s.partitions_until from pawl_data.setting s where s.only_row);
begin
    -- As _are_late() has it, but earlier.
    if p_now > v_until - interval '168 hours'
       -- guard:chore_partitions_clock
       or v_until > p_now + interval '192 hours' and v_until < 'infinity' then
        if not pawl._make_partitions(p_now) then
            return interval '10 s';
        end if;
    end if;
    return interval '10 min';
end
$$;
comment on function pawl._chore_partitions(timestamptz) is 'keeps partitions seven days ahead';

-- Asked row by row from a bounded piece: as a join, the planner might read the whole of a table that it
-- believes to be small.
create or replace function pawl._lives(p_id uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl_data.task t where t.run_id = p_id);
end
$$;
comment on function pawl._lives(uuid) is 'whether a run has not ended, or lives again';

-- Locks an ended run by the row of its first round, so that retry, fork, purge and retention take turns. False: another transaction has
-- it. A run that has never ended, was purged, or is of another tenant than p_tenant has no row: true, and the caller looks what there is.
create or replace function pawl._hold_ended(p_id uuid, p_tenant text)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    perform from pawl_data.run r
    where r.run_id = p_id and r.round = 1 and (p_tenant is null or r.tenant = p_tenant)
    for update skip locked;
    if found then
        return true;
    end if;
    perform from pawl_data.run_kept k
    where k.run_id = p_id and k.round = 1 and (p_tenant is null or k.tenant = p_tenant)
    for update skip locked;
    return found
        or not exists (select from pawl_data.run r where r.run_id = p_id and r.round = 1 and (p_tenant is null or r.tenant = p_tenant))
           and not exists (select from pawl_data.run_kept k where k.run_id = p_id and k.round = 1 and (p_tenant is null or k.tenant = p_tenant));
end
$$;
comment on function pawl._hold_ended(uuid, text) is 'locks an ended run; false if another transaction has it';

create or replace function pawl._kept_since(p_id uuid, p_since timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl_data.run_kept k where k.run_id = p_id and k.ended_at >= p_since);
end
$$;
comment on function pawl._kept_since(uuid, timestamptz) is 'whether a kept run has a round that ended then or later';

-- Whether the time of a key is over: its own, or that of its run, which is not gone before its retention is over.
create or replace function pawl._key_is_over(p_key pawl_data.key, p_now timestamptz)
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
    if p_key.run_id >= pawl._id_floor(pawl._shift(p_now, (select - s.retention from pawl_data.setting s where s.only_row)))
       or pawl._lives(p_key.run_id) then
        return false;
    end if;
    -- 1. A empties a past day, and stays in its transaction, so that the tables of that day are locked. 2. B triggers with a key of a run of
    -- that day. B asks only for what is kept of it, and does not wait for A.
    -- guard:key_of_a_past_day
    if p_key.run_id < pawl._first_id('run', p_now) then
        return not exists (select from pawl_data.run_kept k where k.run_id = p_key.run_id);
    end if;
    return not exists (select from pawl._runs(array[p_key.run_id]));
end
$$;
comment on function pawl._key_is_over(pawl_data.key, timestamptz) is 'whether a key stands for nothing any more';

-- Keys whose time is over, or whose run is no longer retained. Walks the table a piece at a time.
create or replace function pawl._chore_keys(p_now timestamptz, p_chore pawl_data.chore)
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
        from pawl_data.key k
        where (k.key, k.tenant, k.workflow_id) > (v_from ->> 0, v_from ->> 1, (v_from ->> 2)::int)
        order by k.key, k.tenant, k.workflow_id
        limit 1000
    ), old as materialized (
        -- Nothing else is locked: the end of a run waits for the row of the key that it frees.
        select k.ctid
        from piece p
        join pawl_data.key k on k.tenant = p.tenant and k.workflow_id = p.workflow_id and k.key = p.key and k.run_id = p.run_id
        -- guard:keys_old_only
        where pawl._key_is_over(k, p_now)
        for update of k skip locked
    ), gone as (
        delete from pawl_data.key d where d.ctid = any (array(select o.ctid from old o))
    )
    select count(*) as n,
           (array_agg(json_build_array(p.key, p.tenant, p.workflow_id) order by p.key desc, p.tenant desc, p.workflow_id desc))[1] as last
    into v_piece
    from piece p;
    update pawl_data.chore c
    set position = case when v_piece.n = 1000 then v_piece.last::text end
    where c.chore = 'keys';
    return case when v_piece.n = 1000 then interval '1 s' else interval '10 min' end;
end
$$;
comment on function pawl._chore_keys(timestamptz, pawl_data.chore) is 'removes keys that stand for nothing';

-- Meeting points that nobody has come to for as long as events are kept. Walks the table a piece at a time.
create or replace function pawl._chore_topics(p_now timestamptz, p_chore pawl_data.chore)
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
    v_old timestamptz := pawl._shift(p_now, (select - s.event_retention from pawl_data.setting s where s.only_row));
    v_count int;
    v_last json;
begin
    select count(*)::int, (array_agg(json_build_array(p.tenant, p.topic, p.key) order by p.tenant desc, p.topic desc, p.key desc))[1]
    into v_count, v_last
    from (
        select o.tenant, o.topic, o.key
        from pawl_data.topic o
        where (o.tenant, o.topic, o.key) > (v_from ->> 0, v_from ->> 1, v_from ->> 2)
        order by o.tenant, o.topic, o.key
        limit 1000
    ) p;
    delete from pawl_data.topic o
    where o.ctid = any (array(
        select d.ctid
        from pawl_data.topic d
        where (d.tenant, d.topic, d.key) > (v_from ->> 0, v_from ->> 1, v_from ->> 2)
          and (d.tenant, d.topic, d.key) <= (v_last ->> 0, v_last ->> 1, v_last ->> 2)
          and d.touched_at < v_old and not pawl._is_awaited(d.tenant, d.topic, d.key)
        order by d.tenant, d.topic, d.key
        limit 1000
        for update skip locked));
    delete from pawl_data.queue_mark m where m.marked_at < p_now - interval '1 min';
    update pawl_data.chore c set position = case when v_count = 1000 then v_last::text end where c.chore = 'topics';
    return case when v_count = 1000 then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_topics(timestamptz, pawl_data.chore) is 'removes meeting points that nobody uses, and old marks';

create or replace function pawl._is_awaited(p_tenant text, p_topic text, p_key text)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (
        select from pawl_data.wait w where w.kind = 3 and w.tenant = p_tenant and w.topic = p_topic and w.key = p_key);
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
            (select t.session_id from pawl_data.task t where t.place = 2 order by t.session_id limit 1)
            union all
            select (select t.session_id from pawl_data.task t where t.place = 2 and t.session_id > h.session_id
                    order by t.session_id limit 1)
            from holder h where h.session_id is not null
        )
        select h.session_id
        from holder h
        where h.session_id is not null
          -- guard:orphans
          and not exists (select from pawl_data.worker w where w.session_id = h.session_id and w.ended_at is null)
        limit 10
    loop
        perform pawl._release_held(v_session, p_now, 500, true, true);
    end loop;
    delete from pawl_data.worker w
    where w.session_id = any (array(
        select d.session_id from pawl_data.worker d
        where d.ended_at < pawl._shift(p_now, (select - s.retention from pawl_data.setting s where s.only_row)) limit 500));
    delete from pawl_data.metric m
    where m.minute < pawl._shift(p_now, (select - s.retention from pawl_data.setting s where s.only_row)) - interval '720 hours';
    return interval '10 s';
end
$$;
comment on function pawl._chore_workers(timestamptz) is 'takes back what ended sessions still hold, and forgets those that ended long ago';

-- Events that had more waits than one emit settles: a page of one of them. A run that somebody holds is passed
-- over; at the end the walk begins anew for those.
create or replace function pawl._deliver_more(p_now timestamptz, p_most int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_delivery pawl_data.delivery;
begin
    select d.* into v_delivery
    from pawl_data.delivery d
    -- None is put off for more than a second: far ahead means that the clock was set back.
    -- guard:delivery_clock
    where (d.due_at <= p_now or d.due_at > p_now + interval '1 hour' and d.due_at < 'infinity')
      and (p_tenant is null or d.tenant = p_tenant)
    order by d.due_at
    limit 1
    for update skip locked;
    if not found then
        return 0;
    end if;
    if not p_each then
        return pawl._deliver_page(v_delivery, p_most, p_now);
    end if;
    for v_n in 1..p_most loop
        begin
            perform pawl._deliver_page(v_delivery, 1, p_now);
        exception
            when others then
                perform pawl._note_failure('deliveries', p_now, format('event %s: %s %s', v_delivery.event_id, sqlstate, sqlerrm));
                -- The walk goes on behind the run that fails, and comes back to it after its end.
                -- guard:delivery_skips
                update pawl_data.delivery d
                set passed_over = true, after = coalesce((
                        select w.run_id from pawl_data.wait w join pawl_data.event e on e.event_id = d.event_id
                        where w.kind = 3 and w.tenant = e.tenant and w.topic = e.topic and w.key = e.key and w.run_id > d.after
                        order by w.run_id limit 1), d.after)
                where d.event_id = v_delivery.event_id;
        end;
        select d.* into v_delivery from pawl_data.delivery d where d.event_id = v_delivery.event_id and d.due_at <= p_now;
        exit when not found;
    end loop;
    return 0;
end
$$;
comment on function pawl._deliver_more(timestamptz, int, text, boolean) is 'settles further waits for an event that had many';

-- One page of waits; how many were settled.
create or replace function pawl._deliver_page(p_delivery pawl_data.delivery, p_most int, p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
declare
    v_event pawl_data.event;
    v_paths text[];
    v_page record;
begin
    select e.* into v_event from pawl_data.event e where e.event_id = p_delivery.event_id;
    if not found then
        delete from pawl_data.delivery d where d.event_id = p_delivery.event_id;
        return 0;
    end if;
    select o.path_sets into v_paths
    from pawl_data.topic o where o.tenant = v_event.tenant and o.topic = v_event.topic and o.key = v_event.key;
    select d.* into v_page from pawl._deliver(v_event, v_paths, p_most, p_now, false, p_delivery.after) d;
    if v_page.last is null and not (p_delivery.passed_over or v_page.passed_over) then
        delete from pawl_data.delivery d where d.event_id = p_delivery.event_id;
        return v_page.settled;
    end if;
    update pawl_data.delivery d
    set after = coalesce(v_page.last, '00000000-0000-0000-0000-000000000000'),
        passed_over = v_page.last is not null and (d.passed_over or v_page.passed_over),
        due_at = case when v_page.last is null then p_now + interval '1 s' else least(d.due_at, p_now) end
    where d.event_id = p_delivery.event_id;
    return v_page.settled;
end
$$;
comment on function pawl._deliver_page(pawl_data.delivery, int, timestamptz) is 'gives an event to a page of waits';

-- Ended runs by workflow and minute, counted once a minute has been over for one more.
create or replace function pawl._chore_rollup(p_now timestamptz, p_chore pawl_data.chore)
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
    insert into pawl_data.metric (workflow_id, minute, tenant, succeeded, failed, cancelled, seconds_sum, seconds_max, waited_sum)
    select q.workflow_id, date_trunc('minute', r.ended_at), r.tenant, count(*) filter (where r.status = 1),
           count(*) filter (where r.status = 2), count(*) filter (where r.status = 3),
           sum(date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at))),
           max(date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at))),
           sum(date_part('epoch', coalesce(r.started_at, r.ended_at) - r.triggered_at))
    from pawl._ended_between(v_from, v_to) r
    join pawl_data.queue q on q.queue_id = r.queue_id
    group by 1, 2, 3
    on conflict on constraint metric_pkey do update
    set succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
        seconds_sum = excluded.seconds_sum, seconds_max = excluded.seconds_max, waited_sum = excluded.waited_sum;
    update pawl_data.chore c set position = date_part('epoch', v_to)::bigint::text where c.chore = 'rollup';
    return interval '10 s';
end
$$;
comment on function pawl._chore_rollup(timestamptz, pawl_data.chore) is 'counts the runs that ended, by minute';

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
        v_name := to_regclass('pawl_data.' || pawl._partition_name('run', v_day));
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
    from pawl_data.run_kept k where k.ended_at >= p_from and k.ended_at < p_to;
end
$$;
comment on function pawl._ended_between(timestamptz, timestamptz) is 'runs that ended within a time, from the ends of recent partitions';
