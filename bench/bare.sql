-- SPDX-License-Identifier: Apache-2.0
-- The yardstick: the least SQL that makes a three-step run durable. An active row with the input is moved to an
-- insert-only history at the end; steps are insert-only. No functions, no guards. Not a part of pawl, and not to be
-- improved: every ratio the project states is measured against it as it stands.
drop schema if exists bare cascade;
create schema bare;
create table bare.active (
    run_id uuid primary key default gen_random_uuid(),
    workflow_id int not null,
    status smallint not null default 0,
    priority smallint not null default 100,
    visible_at timestamptz not null default now(),
    attempt int not null default 0,
    worker_id bigint,
    input jsonb,
    created_at timestamptz not null default now(),
    started_at timestamptz
) with (fillfactor = 70);
create index on bare.active (workflow_id, priority, visible_at);
create table bare.history (
    run_id uuid primary key,
    workflow_id int not null,
    status smallint not null,
    worker_id bigint,
    attempt int,
    input jsonb,
    output jsonb,
    error jsonb,
    created_at timestamptz,
    started_at timestamptz,
    completed_at timestamptz
);
create table bare.step (
    run_id uuid not null,
    step_id text not null,
    status smallint not null,
    output jsonb,
    error jsonb,
    attempt int not null,
    started_at timestamptz,
    completed_at timestamptz,
    primary key (run_id, step_id)
);
