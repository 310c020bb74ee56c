-- SPDX-License-Identifier: Apache-2.0
-- Tokens of the callers of a gateway. No token is here: the digest is of 32 random bytes or more.

create table pawl_data.token (
    token_id bigint generated always as identity primary key,
    name text not null,
    digest bytea not null,
    rights text[] not null,
    -- Null: any tenant.
    tenant text,
    created_at timestamptz not null,
    created_by text not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    constraint token_digest_is_unique unique (digest),
    constraint token_digest_is_sha256 check (length(digest) = 32),
    constraint token_rights_are_known check (rights <> '{}' and rights <@ array['producer', 'operator', 'reader'])
);
comment on table pawl_data.token is 'tokens of the callers of a gateway, by their digests';

create unique index token_name_idx on pawl_data.token (name, coalesce('=' || tenant, '')) where revoked_at is null;
