-- SPDX-License-Identifier: Apache-2.0
-- For whom a call is made. A gateway, such as pawl serve, has one login for many callers. With act_as_token() it says, in each transaction, whose
-- token the calls of the transaction are made for; they may then do what that token may do.
--
-- The setting pawl.acting, local to the transaction, has what act_as_token() found, as a stamp: a digest, and the object that it is of. Any
-- login can write any setting, so only a stamp counts, and only in the transaction and the backend that it names.

-- The digest of a stamp. Two rounds, so that a digest that a caller has seen cannot be continued.
create or replace function pawl._stamp_digest(p_content text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_secret bytea := (select uuid_send(s.acting_secret) from pawl_data.setting s where s.only_row);
begin
    return encode(sha256(v_secret || sha256(v_secret || convert_to(p_content, 'UTF8'))), 'hex');
end
$$;
comment on function pawl._stamp_digest(text) is 'the digest of a stamp';

-- Returns what a stamp says: who, rights and tenant. Null if act_as_token() did not write it in this transaction.
create or replace function pawl._stamp(p_value text)
returns jsonb
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_content jsonb;
begin
    -- guard:stamp_digest
    if left(p_value, 64) is distinct from pawl._stamp_digest(substr(p_value, 66)) then
        return null;
    end if;
    v_content := substr(p_value, 66)::jsonb;
    -- 1. A gateway acts for an operator, and sets pawl.acting to the same stamp for the session. 2. Its next transaction, for another caller,
    -- forgets to say for whom. Without these two tests it would act for the operator. Left are several transactions in one text that is sent as a
    -- simple query: PostgreSQL gives them one time, so a stamp that is set for the session counts until the end of that text.
    -- guard:stamp_transaction
    if (v_content ->> 'at')::bigint is distinct from pawl._micros(transaction_timestamp())
       -- guard:stamp_backend
       or (v_content ->> 'pid')::int is distinct from pg_backend_pid() then
        return null;
    end if;
    return v_content;
end
$$;
comment on function pawl._stamp(text) is 'what a stamp of this transaction says';

-- For whom the caller acts: who, rights and tenant. Null: for itself.
create or replace function pawl._acting()
returns jsonb
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_value text := current_setting('pawl.acting', true);
    v_acting jsonb;
begin
    if v_value is null or v_value = '' then
        return null;
    end if;
    v_acting := pawl._stamp(v_value);
    if v_acting is null then
        -- guard:stamp_only
        raise exception using errcode = '42501', message = 'setting pawl.acting was not written by pawl.act_as_token() in this transaction',
            hint = 'Call pawl.act_as_token(digest) first in each transaction, and set pawl.acting nowhere else.';
    end if;
    return v_acting;
end
$$;
comment on function pawl._acting() is 'for whom the caller acts';

-- Refuses a verb that the rights of a token do not hold.
create or replace function pawl._only_rights(p_acting jsonb, p_verb text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:token_rights
    if not pawl._rights_hold(p_acting, p_verb) then
        raise exception using errcode = '42501', message = format('%s has no right to pawl.%s', p_acting ->> 'who', p_verb),
            hint = format('The rights of the token are: %s.', (select string_agg(r, ', ') from jsonb_array_elements_text(p_acting -> 'rights') r));
    end if;
end
$$;
comment on function pawl._only_rights(jsonb, text) is 'refuses a verb that the rights of a token do not hold';

create or replace function pawl._rights_hold(p_acting jsonb, p_verb text)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (
        select from jsonb_array_elements_text(p_acting -> 'rights') r
        where p_verb = any (pawl._functions_of(r)));
end
$$;
comment on function pawl._rights_hold(jsonb, text) is 'whether the rights of a token hold a verb';

-- Returns the name that is recorded with an action: by, which a caller may give, or the caller. For a token the name of the token comes
-- first, because the gateway vouches for the token alone.
create or replace function pawl._by(p_by text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_acting jsonb := pawl._acting();
begin
    -- guard:acting_by
    if v_acting is not null then
        return (v_acting ->> 'who') || case when p_by is null then '' else format(' (%s)', p_by) end;
    end if;
    return coalesce(p_by, pawl._caller());
end
$$;
comment on function pawl._by(text) is 'the name that is recorded with an action';

create or replace function pawl.act_as_token(digest bytea)
returns table (who text, rights text[], tenant text, expires_at timestamptz)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_token pawl_data.token;
    v_content text;
    v_stamp text;
    v_earlier text := current_setting('pawl.acting', true);
begin
    select t.* into v_token from pawl_data.token t where t.digest = act_as_token.digest;
    -- guard:token_live
    if v_token.token_id is null or v_token.revoked_at is not null or v_token.expires_at <= pawl.now() then
        raise exception using errcode = '28000', message = 'token is unknown, expired or revoked';
    end if;
    v_content := json_build_object('token', v_token.token_id, 'who', 'token:' || v_token.name, 'rights', v_token.rights,
        'tenant', v_token.tenant, 'at', pawl._micros(transaction_timestamp()), 'pid', pg_backend_pid())::text;
    v_stamp := pawl._stamp_digest(v_content) || ' ' || v_content;
    -- 1. A transaction acts for A, sets a savepoint and acts for B. 2. It rolls back to the savepoint, and acts for A again, where the program
    -- means B. So a transaction acts for one token.
    -- guard:act_once
    if v_earlier <> v_stamp and pawl._stamp(v_earlier) is not null then
        raise exception using errcode = '42501', message = 'this transaction acts for another token', hint = 'Begin a transaction for each token.';
    end if;
    perform set_config('pawl.acting', v_stamp, true);
    return query select 'token:' || v_token.name, v_token.rights, v_token.tenant, v_token.expires_at;
end
$$;
comment on function pawl.act_as_token(bytea) is
'Says that the rest of the transaction is for the caller that has a token, and returns who that is (token: and its name), its rights, its tenant (null: any) and when it expires (null: never). digest is the SHA-256 of the token. A later call in the transaction may do what the rights of the token hold, in its tenant, and no more than the login may; who is recorded as the one who did it. A role with the privilege set gateway must call it first in each transaction. Without an explicit transaction send it in one pipeline with the call.
If repeated: returns the same.
Locks: none.
Errors: 28000 the token is unknown, expired or revoked; 42501 the transaction acts for another token.
Limits: the cost is constant.';
