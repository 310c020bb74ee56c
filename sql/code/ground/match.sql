-- SPDX-License-Identifier: Apache-2.0
-- Match by field: equality of at most four JSON pointers with scalars, found by a digest.

-- The paths of a match as one text, sorted: what waits of a topic have in common.
create or replace function pawl._path_set(p_match json)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce((select string_agg(k, chr(10) order by k) from json_object_keys(p_match) k), '');
end
$$;
comment on function pawl._path_set(json) is 'the paths of a match, sorted, one to a line';

-- Whether a number is within the range of numeric.
create or replace function pawl._is_comparable(p_number text)
returns boolean
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_number::numeric is not null;
exception
    when data_exception then
        return false;
end
$$;
comment on function pawl._is_comparable(text) is 'whether a number can be compared with others';

create or replace function pawl._match_problem(p_match json)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_match is null then
        return null;
    end if;
    if json_typeof(p_match) <> 'object' then
        return 'match must be an object of JSON pointers and scalars';
    end if;
    if (select count(*) from json_object_keys(p_match)) > 4 then
        return 'match has more than four paths';
    end if;
    if exists (
        select from json_each(p_match) m
        where m.key !~ '^/' or position(chr(10) in m.key) > 0 or length(m.key) > 200
           or json_typeof(m.value) in ('object', 'array')) then
        return 'each path of a match must be a JSON pointer like /user/id, its value a scalar';
    end if;
    -- A tilde that no 0 or 1 follows means the same as ~0.
    -- guard:match_path_once
    if (select count(*) > count(distinct regexp_replace(k, '~(?![01])', '~0', 'g')) from json_object_keys(p_match) k) then
        return 'match has the same path twice';
    end if;
    -- guard:match_number
    if exists (
        select from json_each(p_match) m where json_typeof(m.value) = 'number' and not pawl._is_comparable(m.value::text)) then
        return 'a number of the match is beyond the range of numeric';
    end if;
    return null;
end
$$;
comment on function pawl._match_problem(json) is 'what is wrong with a match, or null';

-- Digest of the values that a payload has at these paths; null if one is missing or not a scalar.
create or replace function pawl._digest(p_path_set text, p_payload jsonb)
returns bytea
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_text text := p_path_set;
    v_path text;
    v_part text;
    v_value jsonb;
begin
    if p_path_set = '' then
        return sha256('');
    end if;
    foreach v_path in array string_to_array(p_path_set, chr(10)) loop
        v_value := p_payload;
        -- Step by step: the operator for whole paths counts a negative index from the end.
        foreach v_part in array coalesce(nullif(string_to_array(substr(v_path, 2), '/'), '{}'), '{""}') loop
            v_value := case
                when jsonb_typeof(v_value) = 'object' then v_value -> replace(replace(v_part, '~1', '/'), '~0', '~')
                when jsonb_typeof(v_value) = 'array' and v_part ~ '^(0|[1-9][0-9]{0,8})$' then v_value -> v_part::int end;
        end loop;
        if v_value is null or jsonb_typeof(v_value) in ('object', 'array') then
            return null;
        end if;
        v_text := v_text || chr(10) || case jsonb_typeof(v_value)
            when 'number' then trim_scale((v_value #>> '{}')::numeric)::text
            else v_value::text end;
    end loop;
    return sha256(convert_to(v_text, 'UTF8'));
end
$$;
comment on function pawl._digest(text, jsonb) is 'digest of the values of a payload at some paths';

-- The same digest from the side of the wait.
create or replace function pawl._match_digest(p_match json)
returns bytea
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_text text := pawl._path_set(p_match);
    v_value jsonb;
begin
    if v_text = '' then
        return sha256('');
    end if;
    for v_value in select m.value::jsonb from json_each(p_match) m order by m.key loop
        v_text := v_text || chr(10) || case jsonb_typeof(v_value)
            when 'number' then trim_scale((v_value #>> '{}')::numeric)::text
            else v_value::text end;
    end loop;
    return sha256(convert_to(v_text, 'UTF8'));
end
$$;
comment on function pawl._match_digest(json) is 'digest of the paths and values that a wait asks for';
