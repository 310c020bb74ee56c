-- SPDX-License-Identifier: Apache-2.0
-- Limits on JSON from outside. Postgres alone judges whether it is JSON at all.

-- Hot statements make a simpler test inline before they call this: bytes within the limit, and at most 64 opening brackets. Only a payload
-- that fails that test is examined closely here.
create or replace function pawl._payload_problem(p_payload text, p_max int)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bare text;
    v_inner text;
    v_keys int;
begin
    if p_payload is null then
        return 'payload is missing';
    end if;
    if octet_length(p_payload) > p_max then
        return format('payload has %s bytes, the limit is %s', octet_length(p_payload), p_max);
    end if;
    if octet_length(p_payload) - octet_length(replace(replace(p_payload, '{', ''), '[', '')) <= 64
       and octet_length(p_payload) < 30000 then
        return null;
    end if;
    -- Keeps only the brackets and colons outside strings. A string that never ends, which is not JSON, is matched up to the end. Without
    -- that, the expression would be tried from each quote in the string, which would take hours.
    -- guard:payload_open_string
    v_bare := regexp_replace(p_payload, e'"(?:\\\\.|[^"\\\\])*(?:"|\\\\?$)|[^][{}:"]+', '', 'g');
    v_keys := length(v_bare) - length(replace(v_bare, ':', ''));
    if v_keys > 10000 then
        return format('payload has %s keys, the limit is 10000', v_keys);
    end if;
    -- Removes the innermost level, 64 times. A text that does not shrink is not balanced, so it is not JSON either.
    v_bare := translate(v_bare, '{}:', '[]');
    for v_level in 1..64 loop
        v_inner := replace(v_bare, '[]', '');
        if v_inner = v_bare then
            return null;
        end if;
        v_bare := v_inner;
    end loop;
    if v_bare <> '' then
        return 'payload is nested more than 64 deep';
    end if;
    return null;
end
$$;
comment on function pawl._payload_problem(text, int) is 'what is wrong with a payload, or null';

create or replace function pawl._check_payload(p_payload text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_problem text := pawl._payload_problem(p_payload, (select s.payload_max from pawl_data.setting s where s.only_row));
begin
    if v_problem is not null then
        -- guard:payload_limits
        perform pawl._raise('PW009', v_problem, 'Store large data elsewhere and pass a reference.');
    end if;
end
$$;
comment on function pawl._check_payload(text) is 'raises when a payload is missing or over a limit';

-- Replaces half surrogate pairs and \u0000 by \ufffd. The type json accepts both, but reading such a value out of it fails, and the engine
-- reads values out of errors.
create or replace function pawl._readable(p_json text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if strpos(p_json, e'\\u') = 0 or p_json is null then
        return p_json;
    end if;
    -- An escaped backslash is replaced, until the end, by a character that JSON cannot have.
    p_json := replace(replace(p_json, e'\\\\', chr(1)), e'\\u0000', e'\\ufffd');
    -- Whole surrogate pairs are replaced as well; the remaining ones are halves. A lookbehind would begin at the first character for each
    -- match.
    -- guard:readable_in_one_pass
    p_json := regexp_replace(p_json, e'\\\\u([dD][89aAbB][0-9a-fA-F]{2})\\\\u([dD][c-fC-F][0-9a-fA-F]{2})',
        chr(2) || e'\\1' || chr(3) || e'\\2', 'g');
    p_json := regexp_replace(p_json, e'\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}', e'\\\\ufffd', 'g');
    return replace(replace(replace(p_json, chr(2), e'\\u'), chr(3), e'\\u'), chr(1), e'\\\\');
end
$$;
comment on function pawl._readable(text) is 'JSON whose characters all can be read';

-- Returns a payload as a match or a condition compares it. The type jsonb holds no \u0000, no half surrogate pair and no number beyond the
-- range of numeric, all of which are JSON. Without this, an event or a step that succeeded would fail because of a value that no match
-- names. The server would also log the beginning of the payload with the error. A value that cannot be compared matches nothing: such a
-- number becomes an array. So does, in the same payload, every number with four or more characters after the e, or with 255 digits in a
-- row.
create or replace function pawl._comparable(p_payload json)
returns jsonb
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_text text;
begin
    return p_payload::jsonb;
exception
    -- guard:comparable
    when data_exception then
        v_text := pawl._readable(p_payload::text);
        begin
            return v_text::jsonb;
        exception
            -- guard:comparable_numbers
            when numeric_value_out_of_range then
                -- Escaped quotes and backslashes are replaced first. Then every second piece between quotes is outside strings.
                v_text := array_to_string(array(
                    select case when i.n % 2 = 0 or i.piece !~ '[0-9][eE]|[0-9]{255}' then i.piece
                                else regexp_replace(regexp_replace(i.piece, '-?[0-9.]+[eE][-+0-9]{4,}', '[]', 'g'), '-?[0-9.]*[0-9]{255}[0-9.eE]*', '[]', 'g') end
                    from unnest(string_to_array(replace(replace(v_text, e'\\\\', chr(1)), e'\\"', chr(2)), '"')) with ordinality i (piece, n)
                    order by i.n), '"');
                return replace(replace(v_text, chr(2), e'\\"'), chr(1), e'\\\\')::jsonb;
        end;
end
$$;
comment on function pawl._comparable(json) is 'a payload as values that can be compared';
