-- SPDX-License-Identifier: Apache-2.0
-- Tokens, with which a gateway's callers show who they are. The database has their digests and no token.

-- Refuses a right that the caller does not have itself.
create or replace function pawl._check_given(p_rights text[])
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_acting jsonb := pawl._acting();
    v_right text;
    v_verb text;
begin
    if coalesce(cardinality(p_rights), 0) = 0 or not p_rights <@ array['producer', 'operator', 'reader'] then
        -- guard:token_rights_known
        perform pawl._raise('PW003', 'rights must be one or more of producer, operator and reader');
    end if;
    foreach v_right in array p_rights loop
        foreach v_verb in array pawl._functions_of(v_right) loop
            -- 1. A, an operator, may trigger nothing. 2. A creates a token with the right producer, and uses it.
            -- guard:token_own_rights
            if not pawl._may_call(v_verb) or v_acting is not null and not pawl._rights_hold(v_acting, v_verb) then
                raise exception using errcode = '42501', message = format('%s cannot give the right %s', pawl._by(null), v_right),
                    hint = format('Only a caller that may call pawl.%s itself can give that right.', v_verb);
            end if;
        end loop;
    end loop;
end
$$;
comment on function pawl._check_given(text[]) is 'refuses a right that the caller does not have itself';

-- Refuses a token if its tenant has as many as it may have, and forgets those of the tenant that ended long ago. Tokens without a tenant count
-- together.
create or replace function pawl._limit_tokens(p_tenant text, p_max int, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    delete from pawl_data.token t
    where t.token_id = any (array(
        select o.token_id from pawl_data.token o
        where least(o.revoked_at, o.expires_at) < p_now - interval '720 hours' and o.tenant is not distinct from p_tenant
        limit 1000
        -- guard:tokens_skip_locked
        for update skip locked));
    -- 1. A, a tenant's operator, creates tokens in a loop. 2. B, of another tenant, needs one. So each tenant has its own number.
    -- guard:tokens_max
    if p_max <= (select count(*) from pawl_data.token t where t.tenant is not distinct from p_tenant) then
        perform pawl._raise('PW009', format('there are %s tokens of the tenant', p_max), 'Revoke some. A token that was revoked or has expired counts for 30 days.');
    end if;
end
$$;
comment on function pawl._limit_tokens(text, int, timestamptz) is 'refuses more tokens than there may be';

-- The number of a token that was created before, if it is the same, or an error.
create or replace function pawl._same_token(p_name text, p_digest bytea, p_rights text[], p_tenant text)
returns bigint
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_old pawl_data.token;
begin
    select t.* into v_old from pawl_data.token t
    where t.name = p_name and t.tenant is not distinct from p_tenant and t.revoked_at is null;
    if v_old.digest = p_digest and v_old.rights = p_rights then
        return v_old.token_id;
    end if;
    -- guard:token_once
    perform pawl._raise('PW003', case when v_old.token_id is null then 'the digest is that of another token'
        else format('token "%s" exists', p_name) end, 'Revoke it first, or use another name and a new token.');
    return null;
end
$$;
comment on function pawl._same_token(text, bytea, text[], text) is 'the number of a token that was created before';

create or replace function pawl.create_token(
    name text, digest bytea, rights text[], tenant text default null, expires interval default null, by text default null)
returns bigint
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '10s'
as $$
declare
    v_now timestamptz := pawl.now();
    v_bound text;
    v_tenant text := tenant;
    v_rights text[] := array(select distinct r from unnest(rights) r order by r);
    v_id bigint;
begin
    perform pawl._only_read_committed('create_token');
    v_bound := pawl._bound_tenant('create_token');
    if tenant is not null or v_bound is not null then
        -- guard:token_tenant
        v_tenant := pawl._tenant(coalesce(tenant, v_bound), null);
    end if;
    if name is null or length(name) not between 1 and 100 or name ~ '[[:cntrl:]]' then
        -- guard:token_name_form
        perform pawl._raise('PW003', 'a token needs a name of 1 to 100 characters, without control characters');
    end if;
    if digest is null or length(digest) <> 32 then
        -- guard:token_digest
        perform pawl._raise('PW003', 'digest must be the SHA-256 of a token, 32 bytes');
    end if;
    if expires <= interval '0' or expires > interval '100 years' then
        -- guard:token_expires
        perform pawl._raise('PW003', 'expires must be more than 0 and at most 100 years');
    end if;
    perform pawl._check_given(v_rights);
    perform pawl._limit_tokens(v_tenant, case when v_bound is null then 10000 else 1000 end, v_now);
    insert into pawl_data.token (name, digest, rights, tenant, created_at, created_by, expires_at)
    values (create_token.name, create_token.digest, v_rights, v_tenant, v_now, pawl._by(by), pawl._shift(v_now, expires))
    on conflict do nothing
    returning token_id into v_id;
    if v_id is null then
        return pawl._same_token(name, digest, v_rights, v_tenant);
    end if;
    -- After the insert, whose lock _note_bound() meets.
    perform pawl._look_up_callers();
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'create_token', pawl._by(by), json_build_object('token', name, 'rights', v_rights, 'tenant', v_tenant, 'expires', expires));
    return v_id;
end
$$;
comment on function pawl.create_token(text, bytea, text[], text, interval, text) is
'Creates a token for callers of a gateway (see act_as_token), and returns its number. The caller makes at least 32 random bytes, and sends the SHA-256 of the token as digest: the database never has the token. rights: one or more of producer, operator and reader; the caller must have each of them itself. With tenant the token works in that tenant only; a token that a bound caller creates always works in the tenant of the caller. It expires after expires (null: never). Tokens of a tenant have different names, and so have those without one.
If repeated: returns the same number, with the same name, digest, rights and tenant.
Locks: a new row of its name; waits for another transaction that creates the same, ten seconds at most. The first token where no role is a gateway or bound to a tenant: the row of settings, until the end of the transaction.
Errors: PW001 another tenant than the caller''s, PW003 bad argument, or the name or the digest is that of another token, PW008 isolation level, PW009 the tenant has as many tokens as it may have; 42501 the caller lacks a right that it gives, 55P03 another transaction is creating it: call it again.
Limits: 10,000 tokens of each tenant, and as many without one; a role that is bound to a tenant creates at most 1,000.';

create or replace function pawl.revoke_token(name text, by text default null, tenant text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl.now();
    v_bound text;
    v_tenant text := tenant;
    v_ids bigint[];
begin
    perform pawl._only_read_committed('revoke_token');
    v_bound := pawl._bound_tenant('revoke_token');
    if tenant is not null or v_bound is not null then
        -- guard:revoke_tenant
        v_tenant := pawl._tenant(coalesce(tenant, v_bound), null);
    end if;
    v_ids := array(
        select t.token_id from pawl_data.token t
        where t.name = revoke_token.name and (v_tenant is null or t.tenant = v_tenant) and t.revoked_at is null
        limit 2);
    if cardinality(v_ids) > 1 then
        -- guard:revoke_ambiguous
        perform pawl._raise('PW003', format('several tenants have a token "%s"', name), 'Name the tenant.');
    end if;
    if cardinality(v_ids) = 0 then
        if not exists (select from pawl_data.token t where t.name = revoke_token.name and (v_tenant is null or t.tenant = v_tenant)) then
            perform pawl._raise('PW001', format('token "%s" not found', name));
        end if;
        return 'already';
    end if;
    update pawl_data.token t set revoked_at = v_now where t.token_id = v_ids[1] and t.revoked_at is null returning t.tenant into v_tenant;
    if not found then
        return 'already';
    end if;
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'revoke_token', pawl._by(by), json_build_object('token', name, 'tenant', v_tenant));
    return 'ok';
end
$$;
comment on function pawl.revoke_token(text, text, text) is
'Revokes a token: no later act_as_token accepts it. A transaction that acts for the token already may finish. Answers ok or already. tenant is needed if several tenants have a token of that name.
If repeated: answers already.
Locks: the row of the token.
Errors: PW001 no such token, PW003 several tenants have a token of that name, PW008 isolation level.
Limits: the cost is constant.';

create or replace function pawl.list_tokens(cursor bigint default null, max_rows int default 100)
returns table (token_id bigint, name text, rights text[], tenant text, created_at timestamptz, created_by text, expires_at timestamptz, revoked_at timestamptz)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant('list_tokens');
begin
    return query
    select t.token_id, t.name, t.rights, t.tenant, t.created_at, t.created_by, t.expires_at, t.revoked_at
    from pawl_data.token t
    -- guard:list_tokens_tenant
    where (v_bound is null or t.tenant = v_bound) and (cursor is null or t.token_id < cursor)
    order by t.token_id desc
    limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_tokens(bigint, int) is
'Tokens for callers of a gateway, the newest first, with their rights, tenant (null: any), and when they were created, by whom, expire and were revoked. A token that was revoked or has expired is listed for at least 30 days. Neither tokens nor their digests are listed. Pass the last token_id as cursor to continue.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 1,000 rows.';
