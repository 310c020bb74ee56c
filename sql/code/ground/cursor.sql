-- SPDX-License-Identifier: Apache-2.0
-- Where a search continues that has stopped between runs or events of other tenants.

-- The 122 bits of an id that are not the same in all ids, enciphered, or deciphered, with the secret of this database: a Feistel network
-- of eight rounds with halves of 61 bits.
create or replace function pawl._cipher_id(p_bits bit(122), p_back boolean)
returns bit(122)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_secret text := (select s.cursor_secret::text from pawl_data.setting s where s.only_row);
    v_left bit(61) := substring(p_bits from 1 for 61);
    v_right bit(61) := substring(p_bits from 62);
    v_mixed bit(61);
begin
    for v_round in 1..8 loop
        v_mixed := v_left # ('x' || encode(sha256(convert_to(
            format('%s %s %s', v_secret, case when p_back then 9 - v_round else v_round end, v_right), 'UTF8')), 'hex'))::bit(61);
        v_left := v_right;
        v_right := v_mixed;
    end loop;
    -- The halves change places, so that the same rounds in the other order lead back.
    return v_right || v_left;
end
$$;
comment on function pawl._cipher_id(bit, boolean) is 'enciphers or deciphers the varying bits of an id';

-- The cursor for a search that has stopped at this id: for a role that is bound to a tenant a UUID of version 8, of which only this
-- database knows the id, for any other role the id itself, which has version 7.
create or replace function pawl._cursor_at(p_id uuid)
returns uuid
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bits bit(128) := ('x' || replace(p_id::text, '-', ''))::bit(128);
begin
    -- 1. A, a reader that is bound to a tenant, searches for a run. 2. The search stops after 10,000 runs of tenant B. With the last of
    -- these as the cursor, A would have the id of a run of B, and its time; runs of one trigger_many() are numbered, so A would have the
    -- ids of all of them.
    -- guard:cursor_hides
    if pawl._bound_tenant(null) is null then
        return p_id;
    end if;
    v_bits := pawl._cipher_id(substring(v_bits from 1 for 48) || substring(v_bits from 53 for 12) || substring(v_bits from 67), false)::bit(128);
    v_bits := substring(v_bits from 1 for 48) || B'1000' || substring(v_bits from 49 for 12) || B'10' || substring(v_bits from 61 for 62);
    return (lpad(to_hex(substring(v_bits from 1 for 64)::bigint), 16, '0')
            || lpad(to_hex(substring(v_bits from 65)::bigint), 16, '0'))::uuid;
end
$$;
comment on function pawl._cursor_at(uuid) is 'the cursor of a search that stopped at an id';

-- The id from which a search continues: the one in a cursor of _cursor_at(), or the cursor itself.
create or replace function pawl._cursor_id(p_cursor uuid)
returns uuid
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bits bit(128);
begin
    if p_cursor is null or substr(p_cursor::text, 15, 1) <> '8' then
        return p_cursor;
    end if;
    v_bits := ('x' || replace(p_cursor::text, '-', ''))::bit(128);
    v_bits := pawl._cipher_id(substring(v_bits from 1 for 48) || substring(v_bits from 53 for 12) || substring(v_bits from 67), true)::bit(128);
    v_bits := substring(v_bits from 1 for 48) || B'0111' || substring(v_bits from 49 for 12) || B'10' || substring(v_bits from 61 for 62);
    return (lpad(to_hex(substring(v_bits from 1 for 64)::bigint), 16, '0')
            || lpad(to_hex(substring(v_bits from 65)::bigint), 16, '0'))::uuid;
end
$$;
comment on function pawl._cursor_id(uuid) is 'the id that a cursor stands for';
