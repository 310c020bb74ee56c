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
    if to_regclass('pawl.' || v_name) is not null then
        return;
    end if;
    -- Dynamic because the name of a partition is made of its day.
    execute format('create table pawl.%I (like pawl.%I including all)', v_name, p_table);
    perform pawl._close_table(to_regclass('pawl.' || v_name));
    -- Dynamic for the same reason; the bounds are ids, written as literals.
    execute format('alter table pawl.%I attach partition pawl.%I for values from (%L) to (%L)', p_table, v_name,
        pawl._id_floor(p_day::timestamp at time zone 'UTC'), pawl._id_floor((p_day + 1)::timestamp at time zone 'UTC'));
end
$$;
comment on function pawl._make_partition(text, date) is 'makes and attaches the partition of a day, if it is missing';

-- From the day before (ids may be an hour off) to seven days ahead.
create or replace function pawl._make_partitions(p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_today date := (p_now at time zone 'UTC')::date;
    v_table text;
    v_day date;
begin
    -- One at a time. Whoever comes second leaves it to the first, unless today''s are missing still.
    if not pg_try_advisory_xact_lock(hashtextextended('pawl.partitions', 0)) then
        if to_regclass('pawl.' || pawl._partition_name('event', v_today)) is not null then
            return;
        end if;
        perform pg_advisory_xact_lock(hashtextextended('pawl.partitions', 0));
    end if;
    foreach v_table in array array['run', 'input', 'step', 'audit', 'note', 'event'] loop
        for v_day in select v_today + d from generate_series(-1, 7) d loop
            perform pawl._make_partition(v_table, v_day);
        end loop;
    end loop;
    -- If an operator has the row, the next one notes it.
    perform from pawl.setting s where s.only_row for update skip locked;
    if found then
        update pawl.setting s
        set partitions_until = (v_today + 8)::timestamp at time zone 'UTC'
        where s.only_row
          and (s.partitions_until < (v_today + 8)::timestamp at time zone 'UTC'
               -- Down again, too, when the clock was set back: days in between may have none.
               -- guard:partitions_down
               or s.partitions_until > p_now + interval '192 hours' and s.partitions_until < 'infinity');
    end if;
end
$$;
comment on function pawl._make_partitions(timestamptz) is 'makes what is missing of the partitions from yesterday to seven days ahead';
