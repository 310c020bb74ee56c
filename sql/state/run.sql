-- SPDX-License-Identifier: Apache-2.0
-- History: runs that have ended, one row for each round. Insert-only, partitioned by the day in the
-- run id. A run that outlives its partition has its rows in the kept tables.

create table pawl_data.run (
    run_id uuid not null,
    round smallint not null,
    -- s SUCCESS, e ERROR, c CANCELLED.
    status "char" not null,
    priority smallint not null,
    queue_id int not null,
    fence int not null,
    execution int not null,
    session_id bigint,
    triggered_at timestamptz not null,
    started_at timestamptz,
    ended_at timestamptz not null,
    -- An undo has run, or the input is in pawl_data.input.
    rolled_back boolean not null,
    input_apart boolean not null,
    -- This end freed its key, which the next round takes again.
    key_freed boolean not null default false,
    tenant text not null,
    limit_key text,
    key text,
    parent_id uuid,
    parent_step text,
    parent_task int,
    -- Only in the row of round 1.
    input json,
    metadata json,
    output json,
    error json,
    -- Version of the code that executed a round that failed, so that a retry can compare it.
    version text,
    constraint run_pkey primary key (run_id, round)
) partition by range (run_id);
comment on table pawl_data.run is 'ended runs, one row for each round';
-- Rounds that failed: they are few and searched often. A run that succeeds is not in it.
create index run_failed_idx on pawl_data.run (run_id, round) where status = 'e';

create table pawl_data.run_kept (like pawl_data.run including defaults, constraint run_kept_pkey primary key (run_id, round));
comment on table pawl_data.run_kept is 'ended runs that outlived the partition of their day';
create index run_kept_ended_idx on pawl_data.run_kept (ended_at, run_id);
create index run_kept_failed_idx on pawl_data.run_kept (run_id, round) where status = 'e';

-- Where ended runs were deleted: the number of a piece of 64 pages of the partition of a day. Vacuum frees that place for runs that end later.
create table pawl_data.freed (
    day date not null,
    piece bigint not null
);
comment on table pawl_data.freed is 'pieces of partitions of ended runs whose place is used again';
create index freed_day_idx on pawl_data.freed (day, piece);

-- Inputs too large to ride in the hot row: written once, where they stay.
create table pawl_data.input (
    run_id uuid not null,
    input json not null,
    constraint input_pkey primary key (run_id)
) partition by range (run_id);
comment on table pawl_data.input is 'large inputs of runs';

create table pawl_data.input_kept (like pawl_data.input, constraint input_kept_pkey primary key (run_id));
comment on table pawl_data.input_kept is 'large inputs of runs that outlived the partition of their day';

-- Runs are found by tags: one row for each tag of a run, none for a run without tags. Insert-only.
create table pawl_data.tag (
    run_id uuid not null,
    tenant text not null,
    tag text not null,
    constraint tag_pkey primary key (run_id, tag)
) partition by range (run_id);
comment on table pawl_data.tag is 'tags that runs are found by';
create index tag_run_idx on pawl_data.tag (tag, run_id);
-- For readers of one tenant: without it they would walk over runs of all others that have the same tag. Written so that the planner cannot
-- take the other index for it, whatever its statistics say of tenants.
create index tag_tenant_idx on pawl_data.tag (tenant, (tag || ''), run_id) where tenant <> '';

create table pawl_data.tag_kept (like pawl_data.tag, constraint tag_kept_pkey primary key (run_id, tag));
comment on table pawl_data.tag_kept is 'tags of runs that outlived the partition of their day';
create index tag_kept_run_idx on pawl_data.tag_kept (tag, run_id);
create index tag_kept_tenant_idx on pawl_data.tag_kept (tenant, (tag || ''), run_id) where tenant <> '';

-- Idempotency. Its uniqueness does not depend on time, so it is not partitioned.
create table pawl_data.key (
    workflow_id int not null,
    -- Null: as long as the run is retained. Otherwise freed then; infinity: freed when the run ends.
    expires_at timestamptz,
    run_id uuid not null,
    tenant text not null,
    key text not null,
    digest bytea not null,
    -- Id of the last call that took the key or replaced the input of its run, if a call has done so with replace or debounce.
    last_id uuid,
    -- The key first, so that it is found without its tenant and workflow, too.
    constraint key_pkey primary key (key, tenant, workflow_id)
);
comment on table pawl_data.key is 'idempotency keys and the run each stands for';
