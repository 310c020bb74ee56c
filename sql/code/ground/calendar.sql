-- SPDX-License-Identifier: Apache-2.0
-- The calendar of schedules: at which times a cron expression in a time zone, or an interval, has a nominal time.
--
-- Rules where the clock of a zone changes:
--   A wall time that does not exist has its nominal time as much later as the clock jumps: 02:30 becomes 03:30. PostgreSQL's own conversion
--   "at time zone" returns the same.
--   A wall time that exists twice has one nominal time, the first. (PostgreSQL's own conversion returns the second.)
--   An open hour field, one with a star or a range, counts real hours: nothing is moved, and both hours of a doubled one count.
--   One instant is at most one nominal time, whatever the expression.

-- One field of an expression as a sorted list of numbers; null if it is malformed or out of range.
create or replace function pawl._cron_field(p_text text, p_low int, p_high int, p_names text[])
returns int[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_item text;
    v_part text[];
    v_from int;
    v_to int;
    v_step int;
    v_all int[] := array[]::int[];
begin
    foreach v_item in array string_to_array(lower(p_text), ',') loop
        v_part := regexp_match(v_item, '^(?:(\*)|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:/([0-9]{1,2}))?$');
        if v_part is null then
            return null;
        end if;
        v_step := coalesce(v_part[4]::int, 1);
        if v_part[1] = '*' then
            v_from := p_low;
            v_to := p_high;
        else
            v_from := case when v_part[2] ~ '^[0-9]' then v_part[2]::int else array_position(p_names, v_part[2]) - 1 + p_low end;
            v_to := case when v_part[3] is null and v_part[4] is null then v_from
                         when v_part[3] is null then p_high
                         when v_part[3] ~ '^[0-9]' then v_part[3]::int
                         else array_position(p_names, v_part[3]) - 1 + p_low end;
        end if;
        -- Sunday is 0 and 7: fri-sun is 5-7.
        if p_high = 7 and v_to = 0 and v_from > 0 then
            v_to := 7;
        end if;
        if v_step < 1 or v_from is null or v_to is null or v_from < p_low or v_to > p_high or v_from > v_to then
            return null;
        end if;
        v_all := v_all || array(select generate_series(v_from, v_to, v_step));
    end loop;
    return array(select distinct n from unnest(v_all) n order by n);
end
$$;
comment on function pawl._cron_field(text, int, int, text[]) is 'a field of a cron expression as a list; null: it is malformed';

-- An expression, taken apart. problem says which field is malformed; the other columns count only if it is null. last: the last day of the
-- month is meant, too. open_hour: the hour field has a star or a range. either: both fields of days are restricted, so that one is enough.
create or replace function pawl._cron_parts(
    p_cron text, out problem text, out minutes int[], out hours int[], out days int[], out months int[], out weekdays int[],
    out last boolean, out open_hour boolean, out either boolean)
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_text text := lower(btrim(regexp_replace(p_cron, '\s+', ' ', 'g')));
    v_fields text[];
    v_days text[];
begin
    v_text := case v_text
        when '@hourly' then '0 * * * *' when '@daily' then '0 0 * * *' when '@midnight' then '0 0 * * *' when '@weekly' then '0 0 * * 0'
        when '@monthly' then '0 0 1 * *' when '@yearly' then '0 0 1 1 *' when '@annually' then '0 0 1 1 *' else v_text end;
    v_fields := string_to_array(v_text, ' ');
    -- guard:cron_length
    if p_cron is null or length(p_cron) > 1000 or cardinality(v_fields) <> 5 then
        problem := 'a cron expression has five fields: minute, hour, day of the month, month, day of the week; or is @hourly, @daily, @weekly, @monthly or @yearly';
        return;
    end if;
    v_days := string_to_array(v_fields[3], ',');
    last := 'l' = any (v_days);
    v_days := array_remove(v_days, 'l');
    minutes := pawl._cron_field(v_fields[1], 0, 59, null);
    hours := pawl._cron_field(v_fields[2], 0, 23, null);
    days := case when v_days = '{}' then '{}' else pawl._cron_field(array_to_string(v_days, ','), 1, 31, null) end;
    months := pawl._cron_field(v_fields[4], 1, 12, '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}');
    weekdays := pawl._cron_field(v_fields[5], 0, 7, '{sun,mon,tue,wed,thu,fri,sat}');
    problem := case
        when minutes is null then format('minute "%s" is not a list of numbers, ranges and steps from 0 to 59', v_fields[1])
        when hours is null then format('hour "%s" is not a list of numbers, ranges and steps from 0 to 23', v_fields[2])
        when days is null then format('day of the month "%s" is not a list of numbers, ranges and steps from 1 to 31, or L', v_fields[3])
        when months is null then format('month "%s" is not a list of numbers, names, ranges and steps from 1 to 12', v_fields[4])
        when weekdays is null then format('day of the week "%s" is not a list of numbers, names, ranges and steps from 0 to 7', v_fields[5]) end;
    weekdays := array(select distinct n % 7 from unnest(weekdays) n);
    -- guard:open_hour
    open_hour := v_fields[2] ~ '[*-]';
    -- If both days are restricted, one of them is enough: so does every cron.
    -- guard:cron_either
    either := v_fields[3] !~ '^\*' and v_fields[5] !~ '^\*';
end
$$;
comment on function pawl._cron_parts(text) is 'the fields of a cron expression';

-- How many seconds the clock of a zone is ahead of UTC, some hours after a day of the calendar begins in UTC.
create or replace function pawl._offset_at(p_day date, p_hours int, p_zone text)
returns int
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_utc timestamp := p_day + make_interval(hours => p_hours);
begin
    return extract(epoch from (v_utc at time zone 'UTC' at time zone p_zone) - v_utc)::int;
end
$$;
comment on function pawl._offset_at(date, int, text) is 'the offset of a zone from UTC, in seconds';

-- The times of one day of the calendar at which a wall time of p_hours and p_minutes is due, in order. p_before and p_after are the offsets of
-- the zone on either side of the day.
create or replace function pawl._cron_day(p_day date, p_zone text, p_hours int[], p_minutes int[], p_open boolean, p_before int, p_after int)
returns table (at timestamptz, note text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select i.at, case when bool_or(i.note is null) then null else min(i.note) end
    from (
        select p_day + make_interval(hours => h, mins => m) as wall from unnest(p_hours) h cross join unnest(p_minutes) m
    ) w
    cross join lateral (
        select (w.wall - make_interval(secs => p_before)) at time zone 'UTC', (w.wall - make_interval(secs => p_after)) at time zone 'UTC'
    ) o (before, after)
    cross join lateral (select o.before at time zone p_zone = w.wall, o.after at time zone p_zone = w.wall) k (before, after)
    cross join lateral (
        -- guard:gap_moves
        select o.before, 'moved' where not k.before and not k.after and not p_open
        union all
        select o.before, case when k.after then 'first of two' end where k.before
        union all
        -- guard:doubled_first
        select o.after, case when k.before then 'second of two' end where k.after and (p_open or not k.before)
    ) i (at, note)
    group by i.at
    order by i.at;
end
$$;
comment on function pawl._cron_day(date, text, int[], int[], boolean, int, int) is 'the times of a day on which the clock changes, or of a day near it';

-- Nominal times of an expression that are after p_after and not after p_until, in order, at most p_max. note: moved (the wall time does not
-- exist), first of two, second of two, or null. The expression is valid.
create or replace function pawl._cron_times(p_cron text, p_zone text, p_after timestamptz, p_until timestamptz, p_max int)
returns table (at timestamptz, note text)
language plpgsql
stable
rows 10
set search_path to pg_catalog, pg_temp
as $$
declare
    c record;
    v_wall timestamp := p_after at time zone p_zone;
    -- One day earlier: a wall time of that day may be moved into this one.
    v_day date := v_wall::date - 1;
    v_last_day date := (p_until at time zone p_zone)::date + 1;
    v_before int;
    v_after int;
    v_by_day boolean;
    v_by_weekday boolean;
    v_hours int[];
    v_last timestamptz := p_after;
    v_left int := p_max;
begin
    select * into c from pawl._cron_parts(p_cron) p;
    while v_day <= v_last_day and v_left > 0 loop
        if extract(month from v_day)::int <> all (c.months) then
            -- 32 days after its first day the month is over.
            v_day := date_trunc('month', date_trunc('month', v_day::timestamp) + interval '768 hours')::date;
            continue;
        end if;
        v_by_day := extract(day from v_day)::int = any (c.days) or c.last and extract(day from v_day + 1) = 1;
        v_by_weekday := extract(dow from v_day)::int = any (c.weekdays);
        if c.either and (v_by_day or v_by_weekday) or v_by_day and v_by_weekday then
            -- Offsets on both sides of the day, further away from it than any zone is from UTC. If they are equal, the clock does not change,
            -- and a wall time is one subtraction away. No zone changes twice within these three days.
            v_before := pawl._offset_at(v_day, -26, p_zone);
            v_after := pawl._offset_at(v_day, 50, p_zone);
            -- Hours that have passed are left out where the clock does not change: an expression for each minute has 1,440 times in a day.
            v_hours := array(select h from unnest(c.hours) h where v_before <> v_after or v_day + make_interval(hours => h + 1) > v_wall);
            for at, note in
                select d.at, d.note
                from (
                    select (v_day + make_interval(hours => h, mins => m, secs => - v_before)) at time zone 'UTC' as at, null::text as note
                    from unnest(v_hours) h cross join unnest(c.minutes) m
                    where v_before = v_after
                    union all
                    select x.at, x.note from pawl._cron_day(v_day, p_zone, v_hours, c.minutes, c.open_hour, v_before, v_after) x
                    where v_before <> v_after
                ) d
                -- 1. The gap begins at 23:00. 2. 23:30 is moved to 00:30 of the next day, which has that time itself: one instant, one time.
                -- guard:one_instant
                where d.at > v_last and d.at <= p_until
                order by d.at
                limit v_left
            loop
                v_last := at;
                v_left := v_left - 1;
                return next;
            end loop;
        end if;
        v_day := v_day + 1;
    end loop;
end
$$;
comment on function pawl._cron_times(text, text, timestamptz, timestamptz, int) is 'nominal times of a cron expression';

-- Nominal times that are p_anchor and whole multiples of p_every away from it. Seconds are counted, so that the zone of a session does not
-- matter: a day of the type interval has 23 or 25 hours where a clock changes.
create or replace function pawl._interval_times(p_anchor timestamptz, p_every interval, p_after timestamptz, p_until timestamptz, p_max int)
returns table (at timestamptz)
language plpgsql
immutable
rows 10
set search_path to pg_catalog, pg_temp
as $$
declare
    v_every bigint := extract(epoch from p_every)::bigint;
    v_first bigint := floor(extract(epoch from p_after - p_anchor) / v_every)::bigint + 1;
    v_last bigint := floor(extract(epoch from p_until - p_anchor) / v_every)::bigint;
begin
    return query
    -- guard:interval_exact
    select p_anchor + make_interval(secs => n * v_every)
    from generate_series(v_first, least(v_last, v_first + p_max - 1)) n;
end
$$;
comment on function pawl._interval_times(timestamptz, interval, timestamptz, timestamptz, int) is 'nominal times of an interval';

-- PostgreSQL takes nearly any text for a time zone, also abbreviations, which have no rules, and POSIX rules, which no update corrects. A name of
-- right/ counts leap seconds.
create or replace function pawl._check_zone(p_zone text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_zone = 'UTC' then
        return;
    end if;
    -- guard:zone_name
    if p_zone is null or p_zone !~ '^[A-Z][A-Za-z_]+/[A-Za-z0-9_+/-]+$' or not exists (select from pg_timezone_names z where z.name = p_zone) then
        perform pawl._raise('PW003', format('unknown time zone "%s"', p_zone),
            'Use UTC, or a name like Europe/Berlin: select name from pg_timezone_names.');
    end if;
end
$$;
comment on function pawl._check_zone(text) is 'refuses a time zone that is not UTC or an IANA name';

create or replace function pawl._check_cron(p_cron text, p_zone text, p_now timestamptz)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_problem text := (select p.problem from pawl._cron_parts(p_cron) p);
begin
    if v_problem is not null then
        perform pawl._raise('PW003', format('bad cron expression "%s": %s', left(p_cron, 200), v_problem));
    end if;
    perform pawl._check_zone(p_zone);
    -- Eight years may lie between two times: 29 February, over 2100.
    -- guard:cron_never
    if not exists (select from pawl._cron_times(p_cron, p_zone, p_now, p_now + interval '78900 hours', 1)) then
        perform pawl._raise('PW003', format('cron expression "%s" has no time within nine years', p_cron), 'Check its day and its month.');
    end if;
end
$$;
comment on function pawl._check_cron(text, text, timestamptz) is 'refuses a cron expression that is malformed or never due';
