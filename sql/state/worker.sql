-- SPDX-License-Identifier: Apache-2.0
-- One row for each worker session. The session's own calls change it, and so do a drain and a sweep.

create sequence pawl_data.session_no minvalue 1 maxvalue 4294967295 cycle;
comment on sequence pawl_data.session_no is 'low half of a session id; the epoch is the high half';

create table pawl_data.worker (
    session_id bigint primary key,
    name text not null,
    lease interval not null,
    lease_until timestamptz not null,
    -- The worker sleeps until it is notified.
    idle boolean not null default false,
    draining boolean not null default false,
    protocol int not null,
    -- Names and prefix patterns it handles, the runtimes it declares, and the queues that follow.
    handles text[] not null,
    runtimes text[] not null,
    queue_ids int[] not null,
    queue_version bigint not null,
    -- Null: any tenant.
    tenant text,
    registered_at timestamptz not null,
    ended_at timestamptz,
    ended_why text,
    -- Steps that last, as the heartbeat reported them: [{run, task, step, attempt, started_ms, timeout_ms}], and when it did. A claim can
    -- renew the lease, too, but reports nothing.
    running json,
    reported_at timestamptz,
    -- When the first of those steps that the session holds is over its limit.
    next_limit_at timestamptz not null default 'infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
comment on table pawl_data.worker is 'worker sessions';

create index worker_idle_idx on pawl_data.worker (session_id) where idle and ended_at is null;
create index worker_limit_idx on pawl_data.worker (next_limit_at) where ended_at is null and next_limit_at < 'infinity';
create index worker_live_idx on pawl_data.worker (session_id) where ended_at is null;

-- Which sessions handle a queue: the same as worker.queue_ids, by queue. Rows go when their session ends.
create table pawl_data.worker_queue (
    queue_id int not null,
    session_id bigint not null,
    constraint worker_queue_pkey primary key (queue_id, session_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table pawl_data.worker_queue is 'worker sessions by the queues that they handle';

-- Tenants that roles are, or were, bound to. The row is locked while a session of such a role is registered.
create table pawl_data.bound_tenant (
    tenant text primary key
);
comment on table pawl_data.bound_tenant is 'tenants that a role was bound to';

-- Privilege sets that pawl.grant_role() gave. Nothing else says what a role may do.
create table pawl_data.granted (
    role_name name not null,
    privilege_set text not null,
    tenant text,
    constraint granted_pkey primary key (role_name, privilege_set),
    constraint granted_privilege_set_is_known check (privilege_set in ('producer', 'worker', 'operator', 'reader'))
);
comment on table pawl_data.granted is 'roles that were given a privilege set, and the tenant each is bound to';

-- Counts of ended runs by minute, made by housekeeping from history.
create table pawl_data.metric (
    workflow_id int not null,
    minute timestamptz not null,
    tenant text not null,
    succeeded bigint not null,
    failed bigint not null,
    cancelled bigint not null,
    seconds_sum double precision not null,
    seconds_max double precision not null,
    waited_sum double precision not null,
    constraint metric_pkey primary key (workflow_id, minute, tenant)
);
comment on table pawl_data.metric is 'ended runs by workflow and minute';
