-- SPDX-License-Identifier: Apache-2.0
-- A clock that tests move by hand. Replaces pawl.now() with a function that reads a row. That needs the privilege to replace the function,
-- so no other role can move the time. Never install it where real work is done.

create table if not exists pawl_data.test_clock (
    only_row boolean primary key default true check (only_row),
    at timestamptz
);
insert into pawl_data.test_clock (at) values (clock_timestamp()) on conflict do nothing;

create or replace function pawl.now()
returns timestamptz
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce((select c.at from pawl_data.test_clock c), clock_timestamp());
end
$$;

-- Moves the clock, or with null lets it run again.
create or replace function pawl.test_clock_set(at timestamptz)
returns void
language sql
security definer
set search_path to pg_catalog, pg_temp
as $$
    update pawl_data.test_clock set at = $1
$$;
revoke all on function pawl.test_clock_set(timestamptz) from public;

-- Moves the clock forward. Housekeeping is due after that, however little the clock has moved since the last tick.
create or replace function pawl.test_clock_advance(by interval)
returns timestamptz
language sql
security definer
set search_path to pg_catalog, pg_temp
as $$
    select setval('pawl_data.housekeeping_clock', 0);
    update pawl_data.test_clock set at = at + by returning at
$$;
revoke all on function pawl.test_clock_advance(interval) from public;
