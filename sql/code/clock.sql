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
Twice: a later time.
Locks: none.
Errors: none.
Bound: constant.';

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
