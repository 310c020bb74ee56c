-- SPDX-License-Identifier: Apache-2.0
-- Retention: empties days that are past their retention, then drops their tables; deletes runs of the kept tables one by one.

-- First step of retention: empties at most one day for each call. It locks the tables of that day alone. Lists begin after that day, so
-- only a call for a run of that day waits while the caller keeps the tables locked. Runs that have not ended are moved to the kept tables
-- first, under their locks. If another transaction holds one of them, or reads the day, the next call tries again. The second step,
-- _chore_tables(), drops the empty tables.
create or replace function pawl._chore_retention(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return case when pawl._empty_day(p_now) then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_retention(timestamptz) is 'empties history that is older than the retention';

-- Returns partitions of days that are past their retention, oldest first. Reading the size of a partition waits while another transaction
-- empties it, at most for the lock_timeout of the caller.
create or replace function pawl._past_partitions(p_now timestamptz)
returns table (parent text, name text, day date, is_empty boolean)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    with past as materialized (
        select p.parent, p.name, p.day
        from pawl._partitions(pawl._run_tables() || 'event'::text) p
        where p.day < pawl._first_day(p.parent, p_now)
    )
    select p.parent, p.name, p.day, coalesce(pg_relation_size(to_regclass('pawl_data.' || p.name)), 0) = 0
    from past p
    order by p.day, p.name;
end
$$;
comment on function pawl._past_partitions(timestamptz) is 'partitions that are past their retention';

-- Returns the day of runs up to which every past day is emptied. Null: retention has not emptied a day yet, or the clock was moved backward
-- since.
create or replace function pawl._emptied_until(p_now timestamptz)
returns date
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_position json := (select c.position from pawl_data.chore c where c.chore = 'retention')::json;
    v_day date := to_date(v_position ->> 0, 'YYYYMMDD') - case when (v_position ->> 3)::boolean then 0 else 1 end;
begin
    return case when v_day < pawl._first_day('run', p_now) then v_day end;
end
$$;
comment on function pawl._emptied_until(timestamptz) is 'the last day of runs that retention is done with';

-- Empties the oldest day that is past its retention. Returns true if there may be more to do.
create or replace function pawl._empty_day(p_now timestamptz)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
-- guard:empty_waits_briefly
set lock_timeout to '20ms'
as $$
declare
    v_day date;
    v_names text[];
    v_more boolean;
begin
    select p.day, array[p.name] into v_day, v_names
    from pawl._past_partitions(p_now) p where p.parent = 'event' and not p.is_empty limit 1;
    v_more := found;
    -- 1. A reads events and stays in its transaction. 2. Retention cannot empty the day that A reads. So it continues with runs; otherwise
    -- A would stop all retention.
    -- guard:empty_passes_locked_events
    if v_more and pawl._empty_partitions(v_day, v_names, false) then
        return true;
    end if;
    -- Days are emptied in order. An empty day may have runs that have not ended and have written nothing yet; they are moved to the kept
    -- tables, too.
    select p.day, coalesce(array_agg(p.name order by p.name) filter (where not p.is_empty), '{}') into v_day, v_names
    from pawl._past_partitions(p_now) p
    where p.parent <> 'event'
    group by p.day
    having not bool_and(p.is_empty) or p.day > coalesce(pawl._emptied_until(p_now), '-infinity')
    order by p.day
    limit 1;
    if not found then
        return v_more;
    end if;
    if pawl._keep_piece(v_day, 50) then
        perform pawl._empty_partitions(v_day, v_names, true);
    end if;
    return true;
exception
    when lock_not_available or deadlock_detected then
        return true;
end
$$;
comment on function pawl._empty_day(timestamptz) is 'empties the oldest day that is past its time';

-- Moves rows of runs of that day that have not ended to the kept tables, p_max runs at a time. Runs of earlier days are deleted, or kept
-- already. Kept runs stay in the hot set until they end, so a walk continues where the last call stopped. From the beginning it would pass
-- all of them each time, to keep a few more. Returns true at the end of a walk that has skipped no run.
create or replace function pawl._keep_piece(p_day date, p_max int)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    -- The day, the last run that was examined, whether a run was skipped, and whether the day is emptied.
    v_position json := (select c.position from pawl_data.chore c where c.chore = 'retention')::json;
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
        from pawl_data.task t
        where t.run_id > v_last and t.run_id < pawl._id_floor((p_day + 1)::timestamp at time zone 'UTC')
        order by t.run_id, t.task_no
        limit 1000
    loop
        exit when v_kept >= p_max;
        v_looked := v_looked + 1;
        v_last := v_task.run_id;
        continue when v_task.task_no > 0 or v_task.kept;
        perform from pawl_data.task t where t.run_id = v_task.run_id and t.task_no = 0 and not t.kept for update skip locked;
        -- All tasks of a flow are locked. If another transaction holds one of them, the day is left to the next walk.
        if found and pawl._lock_tasks(v_task.run_id) then
            perform pawl._keep(v_task.run_id);
            update pawl_data.task t set kept = true where t.run_id = v_task.run_id;
            v_kept := v_kept + 1;
        else
            -- _empty_partitions() would find it, too, but only under its locks.
            v_passed_over := true;
        end if;
    end loop;
    v_ended := v_looked < 1000 and v_kept < p_max;
    update pawl_data.chore c
    set position = case when not v_ended or not v_passed_over then json_build_array(v_key, v_last, v_passed_over, false)::text end
    where c.chore = 'retention';
    return v_ended and not v_passed_over;
end
$$;
comment on function pawl._keep_piece(date, int) is 'moves rows of living runs out of a day that is to be emptied, a piece at a time';

-- Empties the tables of one day. The locks are asked for with the short timeout of the caller.
create or replace function pawl._empty_partitions(p_day date, p_names text[], p_runs boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_name text;
    v_lives boolean := false;
begin
    foreach v_name in array p_names loop
        -- Dynamic because the name of a partition is made of its day.
        execute format('truncate only pawl_data.%I', v_name);
    end loop;
    -- 1. A, this chore, walks the day and finds no run that lives. 2. B retries an ended run of the day and commits. 3. A has the lock now,
    -- sees the task of B, and rolls the truncate back. Without the test the run would lose its records.
    if p_runs then
        -- guard:empty_lives
        v_lives := exists (
            select from pawl_data.task t
            where t.run_id > pawl._id_floor(p_day::timestamp at time zone 'UTC')
              and t.run_id < pawl._id_floor((p_day + 1)::timestamp at time zone 'UTC')
              and not t.kept);
        if v_lives then
            raise exception using errcode = '55P03', message = 'a run of this day lives again';
        end if;
        update pawl_data.chore c
        set position = json_build_array(to_char(p_day, 'YYYYMMDD'), null, false, true)::text
        where c.chore = 'retention';
    end if;
    return true;
exception
    when lock_not_available or deadlock_detected then
        if v_lives then
            -- The run may precede the position of the walk, so the next walk starts from the beginning. Otherwise it would never find the
            -- run.
            -- guard:keep_anew
            update pawl_data.chore c set position = null where c.chore = 'retention';
        end if;
        return false;
end
$$;
comment on function pawl._empty_partitions(date, text[], boolean) is 'empties the tables of a day; false: leaves them all for another time';

-- Second step of retention: drops one empty table of a past day. Every transaction that reads or writes the parent waits for that lock. So
-- only the owner does it, as a part of tick(), in a separate transaction that ends at once. A call that a granted role may make inside a
-- transaction never does it.
create or replace function pawl._chore_tables(p_now timestamptz)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set lock_timeout to '20ms'
as $$
declare
    v_part record;
    v_filled boolean;
    v_error text;
begin
    for v_part in
        select p.parent, p.name, p.day
        from pawl._past_partitions(p_now) p
        -- guard:tables_emptied
        where p.is_empty and (p.parent = 'event' or p.day <= pawl._emptied_until(p_now))
    loop
        begin
            -- Lock the parent first, as every other statement does. Dynamic because the name of a partition is made of its day; so are the
            -- next two.
            execute format('lock table only pawl_data.%I in access exclusive mode', v_part.parent);
            execute format('select exists (select from only pawl_data.%I)', v_part.name) into v_filled;
            -- guard:tables_empty
            if not v_filled then
                execute format('drop table pawl_data.%I', v_part.name);
            end if;
            return interval '0';
        exception
            when lock_not_available or deadlock_detected then
                return interval '10 s';
            -- 1. A, a role without privileges, makes a view of a table; that needs none. 2. The table cannot be dropped. So the tables
            -- after it are dropped now; otherwise A would keep them all.
            -- guard:tables_go_on
            when others then
                v_error := format('%s: %s', v_part.name, sqlerrm);
        end;
    end loop;
    if v_error is not null then
        raise exception using message = v_error, hint = 'Drop what depends on it.';
    end if;
    return interval '1 min';
exception
    when lock_not_available or deadlock_detected then
        return interval '10 s';
end
$$;
comment on function pawl._chore_tables(timestamptz) is 'takes an empty table of a past day away';

-- Deletes kept runs that do not live and of which every round ended before the retention, with all their rows. Walks rounds in the order of
-- their ends, a piece at a time. Rounds of a run that lives again, or has a later round, stay at the head of that order.
create or replace function pawl._chore_kept(p_now timestamptz, p_chore pawl_data.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_before timestamptz := pawl._shift(p_now, (select - s.retention from pawl_data.setting s where s.only_row));
    -- The last round that was examined: its end in microseconds since 1970, and its run.
    v_from json := coalesce(p_chore.position, '[null, "00000000-0000-0000-0000-000000000000"]')::json;
    v_round record;
    v_last json;
    v_looked int := 0;
    v_rows bigint := 0;
    v_old uuid[] := array[]::uuid[];
begin
    for v_round in
        select k.run_id, k.ended_at
        from pawl_data.run_kept k
        where (k.ended_at, k.run_id) > (
            coalesce(timestamptz 'epoch' + (v_from ->> 0)::bigint * interval '1 microsecond', '-infinity'), (v_from ->> 1)::uuid)
          and k.ended_at < v_before
        order by k.ended_at, k.run_id
        limit 1000
    loop
        -- A run may have very many records, and they are deleted in one piece. So stop after 10,000 rows.
        -- guard:kept_rows
        exit when v_rows >= 10000;
        v_looked := v_looked + 1;
        v_last := json_build_array((extract(epoch from v_round.ended_at) * 1000000)::bigint, v_round.run_id);
        continue when pawl._lives(v_round.run_id) or pawl._kept_since(v_round.run_id, v_before);
        -- 1. A retries, forks or purges the run, and holds its row. 2. Without the lock B, this chore, would delete the rows that A needs.
        -- So B skips the run.
        -- guard:forget_lock
        continue when not pawl._hold_ended(v_round.run_id, null);
        -- A transaction that held the run until now may have retried it.
        continue when pawl._lives(v_round.run_id) or v_round.run_id = any (v_old);
        v_old := v_old || v_round.run_id;
        v_rows := v_rows + 20 + (select count(*) from pawl_data.step_kept d where d.run_id = v_round.run_id);
    end loop;
    delete from pawl_data.step_kept d where d.run_id = any (v_old);
    delete from pawl_data.audit_kept d where d.run_id = any (v_old);
    delete from pawl_data.note_kept d where d.run_id = any (v_old);
    delete from pawl_data.input_kept d where d.run_id = any (v_old);
    delete from pawl_data.tag_kept d where d.run_id = any (v_old);
    delete from pawl_data.run_kept d where d.run_id = any (v_old);
    -- guard:kept_goes_on
    update pawl_data.chore c set position = case when v_looked = 1000 or v_rows >= 10000 then v_last::text end where c.chore = 'kept';
    return case when v_looked = 1000 or v_rows >= 10000 then interval '1 s' else interval '1 min' end;
end
$$;
comment on function pawl._chore_kept(timestamptz, pawl_data.chore) is 'removes kept runs that are past their time';
