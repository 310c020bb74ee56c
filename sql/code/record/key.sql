-- SPDX-License-Identifier: Apache-2.0
-- Keys of runs and ended runs: whether a key is free again, and the lock under which retry, fork, purge and retention take turns.

-- Locks an ended run by the row of its first round, so that retry, fork, purge and retention take turns. Returns false if another
-- transaction holds it. A run that has never ended, was purged, or is of another tenant than p_tenant has no row. Then it returns true, and
-- the caller checks what exists.
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

-- Returns whether a key has expired: by its own time or, without one, because its run is no longer retained.
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
