-- SPDX-License-Identifier: Apache-2.0
-- Slow housekeeping: partitions ahead, retention, old keys, topics and sessions, lanes, roll-up of metrics. Each chore is a row of pawl_data.chore.

-- Does one chore, the one that has been due longest, under the lock of its row. With p_tables only the chore tables, which drops empty
-- tables and makes other transactions wait; without, only other chores. Returns true if a chore was due.
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
    -- No chore is deferred for as long as an hour. A later due time means that the clock was moved backward; without the test the chore
    -- would wait until the clock gets there again. Infinity means off.
    -- guard:chore_clock
    where (c.due_at <= p_now or c.due_at > p_now + interval '1 hour' and c.due_at < 'infinity')
      and c.chore not in ('timers', 'sessions', 'limits', 'deliveries', 'schedules', 'subscriptions', 'claims') and (c.chore = 'tables') = p_tables
    order by c.due_at
    limit 1
    for update skip locked;
    if not found then
        return false;
    end if;
    -- If a chore fails, its changes are rolled back and the error is stored in its row. It is due again after a minute.
    begin
        v_wait := case v_chore.chore
            when 'partitions' then pawl._chore_partitions(p_now)
            when 'retention' then pawl._chore_retention(p_now)
            when 'kept' then pawl._chore_kept(p_now, v_chore)
            when 'keys' then pawl._chore_keys(p_now, v_chore)
            when 'topics' then pawl._chore_topics(p_now, v_chore)
            when 'rollup' then pawl._chore_rollup(p_now, v_chore)
            when 'tables' then pawl._chore_tables(p_now)
            when 'calendar' then pawl._chore_calendar(p_now)
            when 'lanes' then pawl._chore_lanes(p_now, v_chore)
            when 'lines' then pawl._chore_lines(v_chore)
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

create or replace function pawl._chore_partitions(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_until timestamptz := (select s.partitions_until from pawl_data.setting s where s.only_row);
begin
    -- The test of _are_late(), but at 168 hours instead of 26.
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

-- Deletes keys that have expired, or whose run is no longer retained. Walks the table a piece at a time.
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
        -- Lock only keys that are deleted: the end of a run waits for the row of the key that it frees.
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

-- Deletes rows of topics that no emit and no wait has used for as long as events are kept, and that no open wait needs. Walks the table a
-- piece at a time.
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
          -- 1. The clock is days ahead, and an event is emitted. 2. The clock is set back, and the row is used again. 3. The row is old by its
          -- last use, but the event is retained. Without this test, the row would go, and a wait would not look for the event.
          -- guard:topics_emitted
          and d.touched_at < v_old and d.emitted_at < v_old and not pawl._is_awaited(d.tenant, d.topic, d.key)
        order by d.tenant, d.topic, d.key
        limit 1000
        for update skip locked));
    delete from pawl_data.queue_mark m where m.marked_at < p_now - interval '1 min';
    perform pawl._forget_held(p_now);
    perform pawl._forget_bulks(p_now);
    update pawl_data.chore c set position = case when v_count = 1000 then v_last::text end where c.chore = 'topics';
    return case when v_count = 1000 then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_topics(timestamptz, pawl_data.chore) is 'removes unused rows of topics, old marks and old bulks';

create or replace function pawl._is_awaited(p_tenant text, p_topic text, p_key text)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (
        select from pawl_data.wait w where w.kind = 'e' and w.tenant = p_tenant and w.topic = p_topic and w.key = p_key);
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
    v_rings int;
begin
    -- 1. A claims tasks and stays in its transaction. 2. B sweeps the session, sees no task of it, and ends it. 3. A commits: its tasks are
    -- held by an ended session. No sweep finds them, so without this chore no worker would ever get them.
    for v_session in
        with recursive holder (session_id) as (
            (select t.session_id from pawl_data.task t where t.place = 'h' order by t.session_id limit 1)
            union all
            select (select t.session_id from pawl_data.task t where t.place = 'h' and t.session_id > h.session_id
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
    -- guard:rings_deleted
    delete from pawl_data.ring r where r.ctid = any (array(select d.ctid from pawl_data.ring d limit 10000 for update skip locked));
    get diagnostics v_rings = row_count;
    return case when v_rings = 10000 then interval '1 s' else interval '10 s' end;
end
$$;
comment on function pawl._chore_workers(timestamptz) is 'takes back what ended sessions still hold, and forgets those that ended long ago and what was notified';

