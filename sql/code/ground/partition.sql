-- SPDX-License-Identifier: Apache-2.0
-- Partitions of history, one for each table and day (UTC) in the id. Created and attached, never made
-- with "partition of", which would lock the parent against everybody.

create or replace function pawl._partition_name(p_table text, p_day date)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_table || '_' || to_char(p_day, 'YYYYMMDD');
end
$$;
comment on function pawl._partition_name(text, date) is 'name of the partition of a day';

create or replace function pawl._make_partition(p_table text, p_day date)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_name text := pawl._partition_name(p_table, p_day);
begin
    if to_regclass('pawl_data.' || v_name) is not null then
        return;
    end if;
    -- Dynamic because the name of a partition is made of its day.
    execute format('create table pawl_data.%I (like pawl_data.%I including all)', v_name, p_table);
    perform pawl._close_table(to_regclass('pawl_data.' || v_name));
    -- Dynamic for the same reason; the bounds are ids, written as literals.
    execute format('alter table pawl_data.%I attach partition pawl_data.%I for values from (%L) to (%L)', p_table, v_name,
        pawl._id_floor(p_day::timestamp at time zone 'UTC'), pawl._id_floor((p_day + 1)::timestamp at time zone 'UTC'));
end
$$;
comment on function pawl._make_partition(text, date) is 'makes and attaches the partition of a day, if it is missing';

-- The tables that have a partition for each day of a run.
create or replace function pawl._run_tables()
returns text[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array['run', 'input', 'step', 'audit', 'note', 'tag'];
end
$$;
comment on function pawl._run_tables() is 'tables that are partitioned by the day in a run''s id';

-- Partitions, with their days. A table that was attached under another kind of name is not listed.
create or replace function pawl._partitions(p_tables text[])
returns table (parent text, name text, day date)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    -- Materialized, or the names of other tables would be read as dates, too.
    with part as materialized (
        select t.parent, c.relname::text as name
        from unnest(p_tables) t (parent)
        join pg_inherits i on i.inhparent = ('pawl_data.' || t.parent)::regclass
        join pg_class c on c.oid = i.inhrelid
        where c.relname ~ ('^' || t.parent || '_[0-9]{8}$')
    )
    select p.parent, p.name, to_date(right(p.name, 8), 'YYYYMMDD')
    from part p;
end
$$;
comment on function pawl._partitions(text[]) is 'partitions of these tables, with their days';

-- The first day that is not past its retention. A run of a day ends within one more day, or its rows are moved to tables without
-- partitions. So the retention of its day has passed two days later.
create or replace function pawl._first_day(p_table text, p_now timestamptz)
returns date
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        (pawl._shift(p_now, (
            select - case when p_table = 'event' then s.event_retention else s.retention end from pawl_data.setting s where s.only_row))
         - case when p_table = 'event' then interval '0' else interval '24 hours' end) at time zone 'UTC')::date;
end
$$;
comment on function pawl._first_day(text, timestamptz) is 'the first day of a table that is retained';

-- The least id of a table that is retained. A walk over all days begins here: an earlier day may be locked by the transaction that
-- empties it.
create or replace function pawl._first_id(p_table text, p_now timestamptz)
returns uuid
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._id_floor(pawl._first_day(p_table, p_now)::timestamp at time zone 'UTC');
end
$$;
comment on function pawl._first_id(text, timestamptz) is 'the least id of a table that is retained';

-- Makes a partition, unless another transaction is about to. The wait for it, and for locks on the parent, is bounded.
create or replace function pawl._try_partition(p_table text, p_day date)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set lock_timeout to '50ms'
as $$
begin
    perform pawl._make_partition(p_table, p_day);
    return true;
exception
    -- 1. A makes the partition in its transaction, and B wants the same one. 2. B waits for A, because a table of the name is being
    -- created. 3. A ends within 50 ms: B sees the table (unique_violation, duplicate_table). Or it does not: B gives up.
    -- guard:partition_waits_briefly
    when lock_not_available or deadlock_detected then
        return false;
    when unique_violation or duplicate_table then
        return true;
end
$$;
comment on function pawl._try_partition(text, date) is 'makes the partition of a day; false if another transaction is in the way';

-- Before a write: makes the partitions of these ids in these tables, if housekeeping is so late that they may be missing. 1. Nothing has
-- called pawl.tick() for a week. 2. A, a producer, triggers a run with a large input in a transaction that stays open, and makes
-- input_20260115. 3. B wants the same partition: it waits for 50 ms and raises an error that is worth another try. 4. C writes to other
-- tables, or triggers a run with a small input: it meets A nowhere. If A made all that is missing, or B waited for A, one open transaction
-- would stop every write of that day.
create or replace function pawl._need_partitions(p_ids uuid[], p_tables text[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_part record;
begin
    if not pawl._are_late(pawl.now(), (select s.partitions_until from pawl_data.setting s where s.only_row)) then
        return;
    end if;
    for v_part in
        select distinct t.name as parent, (pawl._id_time(i.id) at time zone 'UTC')::date as day
        from unnest(p_ids) i (id)
        cross join unnest(p_tables) t (name)
        where i.id is not null
        order by 2, 1
    loop
        if not pawl._try_partition(v_part.parent, v_part.day) then
            perform pawl._raise('PW010', format('another transaction is making partition %s', pawl._partition_name(v_part.parent, v_part.day)),
                'Retry the call; with a tick() in time there is a partition for every day.');
        end if;
    end loop;
end
$$;
comment on function pawl._need_partitions(uuid[], text[]) is 'makes the partitions of these ids, if housekeeping is late';

-- The same for a commit: of runs that the session holds, in the tables that items of these kinds are written to.
create or replace function pawl._need_partitions_for(p_session bigint, p_runs uuid[], p_kinds text[])
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
as $$
begin
    if not pawl._are_late(pawl.now(), (select s.partitions_until from pawl_data.setting s where s.only_row)) then
        return;
    end if;
    perform pawl._need_partitions(
        -- Only these: an id that a caller makes up would make a partition of any day.
        -- guard:partitions_of_held
        array(select t.run_id from pawl_data.task t where t.run_id = any (p_runs) and t.session_id = p_session and not t.kept),
        case when p_kinds <@ array['step'] then array['step']
             when p_kinds <@ array['note'] then array['note']
             when p_kinds <@ array['step', 'complete'] then array['run', 'step']
             else array['audit', 'note', 'run', 'step'] end);
end
$$;
comment on function pawl._need_partitions_for(bigint, uuid[], text[]) is 'makes the partitions that a commit writes to, if housekeeping is late';

-- Whether ids of this moment, or of an hour later, may have no partitions.
create or replace function pawl._are_late(p_now timestamptz, p_until timestamptz)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_now > p_until - interval '26 hours'
        -- A mark further ahead than any tick makes partitions: the clock was moved backward, and the days between are missing.
        -- guard:partitions_clock
        or p_until > p_now + interval '192 hours' and p_until < 'infinity';
end
$$;
comment on function pawl._are_late(timestamptz, timestamptz) is 'whether partitions may be missing';

-- Makes partitions from the day before (ids may be an hour off) to seven days ahead. Of earlier days, it makes those that a living run
-- needs, because plain triggers make none. If another transaction blocks a table, the next call makes its partition, and the mark stays
-- where it is.
create or replace function pawl._make_partitions(p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_today date := (p_now at time zone 'UTC')::date;
    v_table text;
    v_day date;
    v_all boolean := true;
begin
    foreach v_table in array pawl._run_tables() || 'event'::text loop
        for v_day in select v_today + d from generate_series(-1, 7) d loop
            v_all := pawl._try_partition(v_table, v_day) and v_all;
        end loop;
    end loop;
    for v_day in select d.day from pawl._days_needed(v_today - 1) d loop
        foreach v_table in array pawl._run_tables() loop
            v_all := pawl._try_partition(v_table, v_day) and v_all;
        end loop;
    end loop;
    -- guard:partitions_all
    if not v_all then
        return false;
    end if;
    -- If an operator has the row, the next tick writes the mark.
    perform from pawl_data.setting s where s.only_row for update skip locked;
    if found then
        update pawl_data.setting s
        set partitions_until = (v_today + 8)::timestamp at time zone 'UTC'
        where s.only_row
          and (s.partitions_until < (v_today + 8)::timestamp at time zone 'UTC'
               -- The mark also goes down if the clock was moved backward: days in between may have no partitions.
               -- guard:partitions_down
               or s.partitions_until > p_now + interval '192 hours' and s.partitions_until < 'infinity');
    end if;
    return true;
end
$$;
comment on function pawl._make_partitions(timestamptz) is 'makes missing partitions from yesterday to seven days ahead, and those of living runs; false if some could not be made';

-- Returns days before p_before that have a living run whose rows are still in partitions. 1. For a week nothing calls tick(). 2. A producer
-- triggers a plain run, which writes no partition. 3. Days later a worker comes, and commits a step of that run. Its day must have
-- partitions by then.
create or replace function pawl._days_needed(p_before date)
returns table (day date)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_from uuid := uuid '00000000-0000-0000-0000-000000000000';
begin
    loop
        -- guard:partitions_of_living
        select (pawl._id_time(t.run_id) at time zone 'UTC')::date into day
        from pawl_data.task t
        where t.run_id >= v_from and t.run_id < pawl._id_floor(p_before::timestamp at time zone 'UTC') and not t.kept
        order by t.run_id
        limit 1;
        exit when not found;
        return next;
        v_from := pawl._id_floor((day + 1)::timestamp at time zone 'UTC');
    end loop;
end
$$;
comment on function pawl._days_needed(date) is 'earlier days that living runs write to';
