-- SPDX-License-Identifier: Apache-2.0
-- Time. The only source of it; everything else is handed a value that was read here once per call.

create or replace function pawl.now()
returns timestamptz
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return clock_timestamp();
end
$$;
comment on function pawl.now() is
'The time pawl goes by: the clock of the database, read at the call, not at the start of the transaction.
If repeated: returns a later time.
Locks: none.
Errors: none.
Limits: the cost is constant.';

-- The time of a call that makes tasks ready. 1. A, a trigger, reads the clock: its task is due at 12:00:00.000. 2. B, a claim, reads the clock
-- later, and notes which transactions have an id. 3. A gets its id. B would take A for a transaction that began after its look, and a mark
-- of B would hide the task of A (see _pick). So A gets its id first.
create or replace function pawl._write_time()
returns timestamptz
language sql
volatile
-- guard:id_before_clock
return case when pg_current_xact_id() is not null then pawl.now() end;
comment on function pawl._write_time() is 'the time, read after the transaction has its id';

-- Durations are exact: a day has 24 hours, a month 30 days, twelve months make 365.25 days. PostgreSQL itself adds days and months by the
-- calendar of the session: 1. A triggers a run with a delay of 200 days, and its session has TimeZone Europe/Berlin. 2. B, in UTC, triggers
-- another. Without this, the first would start an hour earlier or later than the second if the clocks of Berlin change on the way.
create or replace function pawl._shift(p_at timestamptz, p_by interval)
returns timestamptz
language plpgsql
immutable
strict
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:shift_exact
    return p_at + make_interval(secs => date_part('epoch', p_by));
end
$$;
comment on function pawl._shift(timestamptz, interval) is 'a time and an exact duration after it, or before it if that is negative';

create or replace function pawl._check_finite(p_time interval, p_name text)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- From PostgreSQL 17 on there are others.
    -- guard:finite
    if not isfinite(p_time) then
        perform pawl._raise('PW003', format('%s must be finite', p_name));
    end if;
end
$$;
comment on function pawl._check_finite(interval, text) is 'refuses an infinite duration';

create or replace function pawl._micros(p_at timestamptz)
returns bigint
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- In SQL it would be parsed and planned at each call.
    return (date_part('epoch', p_at) * 1000000)::bigint;
end
$$;
comment on function pawl._micros(timestamptz) is 'microseconds since 1970, for clocks kept in sequences';

create or replace function pawl._epoch()
returns int
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (select s.epoch from pawl_data.setting s where s.only_row);
end
$$;
comment on function pawl._epoch() is 'the epoch in force';
