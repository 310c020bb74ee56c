-- SPDX-License-Identifier: Apache-2.0
-- Run and event ids: 128 bits in UUIDv7 layout. 48 bits of milliseconds, the version, 12 random bits,
-- the variant, 10 bits of slot, 52 random bits.

create or replace function pawl._id_prefix(p_at timestamptz)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_hex text := lpad(to_hex(greatest(0, date_part('epoch', p_at) * 1000)::bigint), 12, '0');
begin
    return substr(v_hex, 1, 8) || '-' || substr(v_hex, 9, 4) || '-7';
end
$$;
comment on function pawl._id_prefix(timestamptz) is 'first 15 characters of every id made at that time';

create or replace function pawl._id_floor(p_at timestamptz)
returns uuid
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- There are none from before 1970, where a long retention may reach.
    -- guard:id_floor
    return rpad(lpad(to_hex(least(greatest(0, date_part('epoch', p_at) * 1000), 281474976710655)::bigint), 12, '0'), 32, '0')::uuid;
end
$$;
comment on function pawl._id_floor(timestamptz) is 'the least id of that time: a bound of a partition';

create or replace function pawl._id_time(p_id uuid)
returns timestamptz
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return to_timestamp(('x' || substr(replace(p_id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0);
end
$$;
comment on function pawl._id_time(uuid) is 'the time in an id';

-- With a parsed body, so that the planner puts the expression where the call is.
create or replace function pawl._id_millis(p_id uuid)
returns bigint
language sql
immutable
return ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint;
comment on function pawl._id_millis(uuid) is 'the milliseconds since 1970 in an id';

create or replace function pawl._id_slot(p_id uuid)
returns int
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (('x' || substr(p_id::text, 20, 4))::bit(16)::int >> 4) & 1023;
end
$$;
comment on function pawl._id_slot(uuid) is 'the logical slot in an id, 0 to 1023';

create or replace function pawl.slot_of(run uuid)
returns int
language plpgsql
immutable
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._id_slot(run);
end
$$;
comment on function pawl.slot_of(uuid) is
'The logical slot (0 to 1023) of a run: what decides which database holds it when there are several.
If repeated: returns the same slot.
Locks: none.
Errors: none.
Limits: the cost is constant.';

create or replace function pawl._key_slot(p_tenant text, p_workflow text, p_key text)
returns int
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_sum bytea := sha256(convert_to(p_tenant, 'UTF8') || e'\\x00'::bytea || convert_to(p_workflow, 'UTF8')
                          || e'\\x00'::bytea || convert_to(p_key, 'UTF8'));
begin
    return (get_byte(v_sum, 0) << 2) | (get_byte(v_sum, 1) >> 6);
end
$$;
comment on function pawl._key_slot(text, text, text) is 'first 10 bits of SHA-256 of tenant, workflow and key';

-- p_slot null: random. The random half is taken from gen_random_uuid, whose variant bits are the right ones.
create or replace function pawl._id_make(p_at timestamptz, p_slot int default null)
returns uuid
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_random text := gen_random_uuid()::text;
begin
    if p_slot is null then
        return (pawl._id_prefix(p_at) || substr(v_random, 16))::uuid;
    end if;
    return (pawl._id_prefix(p_at) || substr(v_random, 16, 4)
            || to_hex(32768 | (p_slot << 4) | (random() * 15)::int) || substr(v_random, 24))::uuid;
end
$$;
comment on function pawl._id_make(timestamptz, int) is 'a new id of that time, in that slot';

-- The 12 bits after the version tell the part of the millisecond, so that events keep their order.
create or replace function pawl._event_id(p_at timestamptz)
returns uuid
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_micros bigint := (date_part('epoch', p_at) * 1000000)::bigint;
    v_hex text := lpad(to_hex(v_micros / 1000), 12, '0');
begin
    return (substr(v_hex, 1, 8) || '-' || substr(v_hex, 9, 4) || '-7' || lpad(to_hex(v_micros % 1000 * 4), 3, '0')
            || substr(gen_random_uuid()::text, 19))::uuid;
end
$$;
comment on function pawl._event_id(timestamptz) is 'a new id for an event of that time';

create or replace function pawl.make_id()
returns uuid
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._id_make(pawl.now());
end
$$;
comment on function pawl.make_id() is
'A new id for a run or an event, for callers that want to know it before they trigger or emit.
If repeated: returns another id.
Locks: none.
Errors: none.
Limits: the cost is constant.';

create or replace function pawl._id_check(p_id uuid, p_now timestamptz)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_id is null then
        perform pawl._raise('PW003', 'an id is missing', 'Give an id for every run, or for none.');
    end if;
    if p_id < pawl._id_floor(p_now - interval '1 hour') or p_id > pawl._id_floor(p_now + interval '1 hour') then
        -- guard:id_hour
        perform pawl._raise('PW003', format('id "%s" is more than one hour off the clock of the database', p_id),
            'Make ids with pawl.make_id(), or take the time for them from a reply of this database.');
    end if;
    if substr(p_id::text, 15, 1) <> '7' or substr(p_id::text, 20, 1) not in ('8', '9', 'a', 'b') then
        -- guard:id_layout
        perform pawl._raise('PW003', format('id "%s" is not in UUIDv7 layout', p_id), 'Make ids with pawl.make_id().');
    end if;
end
$$;
comment on function pawl._id_check(uuid, timestamptz) is 'refuses an id that has no partition, or that is not ours';
