-- SPDX-License-Identifier: Apache-2.0
-- One row for each worker session. The session's own calls change it, and so do a drain and a sweep.

create sequence pawl_data.session_no minvalue 1 maxvalue 4294967295 cycle;
comment on sequence pawl_data.session_no is 'low half of a session id; the epoch is the high half';

create table pawl_data.worker (
    session_id bigint primary key,
    name text not null,
    lease interval not null,
    lease_until timestamptz not null,
    -- The worker has found nothing to do, and sleeps.
    idle boolean not null default false,
    -- It is one of the few that are notified; and since when.
    listens boolean not null default false,
    listens_since timestamptz,
    draining boolean not null default false,
    protocol int not null,
    -- Names and prefix patterns it handles, the runtimes it declares, and the queues that follow.
    handles text[] not null,
    runtimes text[] not null,
    queue_ids int[] not null,
    queue_version bigint not null,
    -- Library and language of the worker, and the version of the code that it executes; null: not given.
    client text not null default '',
    version text,
    -- Null: any tenant.
    tenant text,
    registered_at timestamptz not null,
    ended_at timestamptz,
    ended_why text,
    -- Steps that last, as the heartbeat reported them: [{run, task, step, attempt, started_ms, timeout_ms}], and when it did. A claim can
    -- renew the lease, too, but reports nothing.
    running json,
    reported_at timestamptz,
    -- Since when the program of the worker takes no runs; null: it does.
    starved_since timestamptz,
    -- When the first of those steps that the session holds is over its limit.
    next_limit_at timestamptz not null default 'infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 500);
comment on table pawl_data.worker is 'worker sessions';

create index worker_listens_idx on pawl_data.worker (session_id) where listens and ended_at is null;
create index worker_limit_idx on pawl_data.worker (next_limit_at) where ended_at is null and next_limit_at < 'infinity';
create index worker_live_idx on pawl_data.worker (session_id) where ended_at is null;

-- Which sessions handle a queue: the same as worker.queue_ids, by queue. Rows go when their session ends.
create table pawl_data.worker_queue (
    queue_id int not null,
    session_id bigint not null,
    constraint worker_queue_pkey primary key (queue_id, session_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table pawl_data.worker_queue is 'worker sessions by the queues that they handle';

-- One row, which is only ever locked: by the one transaction that is about to notify. No index and no update, so nothing to vacuum, and no
-- serialization failure.
create table pawl_data.bell (
    only_row boolean not null
);
comment on table pawl_data.bell is 'the row that a transaction locks before it notifies';

insert into pawl_data.bell (only_row) values (true);

-- Microseconds since 1970 times 4096, and the queue modulo 4096; where roles are bound to tenants the tenant's mark. Unlogged, so that a
-- transaction that only notifies writes nothing and waits for no disk.
create unlogged sequence pawl_data.bell_clock minvalue 0 start 0;
comment on sequence pawl_data.bell_clock is 'when a worker was last notified, and for which queue or tenant';

-- Where roles are bound to tenants: a row for a transaction that found the row of bell locked by another tenant's. As bell.
create table pawl_data.tenant_bell (
    only_row boolean not null
);
comment on table pawl_data.tenant_bell is 'the row that a transaction locks before it notifies while another tenant''s has locked bell';

insert into pawl_data.tenant_bell (only_row) values (true);

-- Which of the three follows from the tenant, and changes every second.
create unlogged sequence pawl_data.tenant_bell_clock_1 minvalue 0 start 0;
create unlogged sequence pawl_data.tenant_bell_clock_2 minvalue 0 start 0;
create unlogged sequence pawl_data.tenant_bell_clock_3 minvalue 0 start 0;
comment on sequence pawl_data.tenant_bell_clock_1 is 'when a transaction of some tenants last used tenant_bell, as bell_clock';
comment on sequence pawl_data.tenant_bell_clock_2 is 'when a transaction of some tenants last used tenant_bell, as bell_clock';
comment on sequence pawl_data.tenant_bell_clock_3 is 'when a transaction of some tenants last used tenant_bell, as bell_clock';

-- Queues that a transaction will notify a worker of when it commits: a row has a deferred trigger. Nothing reads the rows, and a chore deletes them.
create unlogged table pawl_data.ring (
    queue_id int not null,
    tenant text
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_insert_threshold = -1);
comment on table pawl_data.ring is 'queues for which open transactions notify a worker when they commit';

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
    constraint granted_privilege_set_is_known check (privilege_set in ('producer', 'worker', 'operator', 'reader', 'gateway'))
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
    -- Histograms with the bounds of pawl._bounds(): how long started runs took, and how long all of them waited to be started.
    seconds_buckets bigint[] not null default '{}',
    waited_buckets bigint[] not null default '{}',
    constraint metric_pkey primary key (workflow_id, minute, tenant)
);
comment on table pawl_data.metric is 'ended runs by workflow and minute';

-- The same since the installation, for all tenants. No column ever falls, which a scraper expects of a counter.
create table pawl_data.metric_total (
    workflow_id int primary key,
    -- It has its own label in pawl.prometheus(); false: it is counted together with others.
    named boolean not null,
    succeeded bigint not null,
    failed bigint not null,
    cancelled bigint not null,
    seconds_sum double precision not null,
    waited_sum double precision not null,
    seconds_buckets bigint[] not null,
    waited_buckets bigint[] not null
) with (fillfactor = 50);
comment on table pawl_data.metric_total is 'ended runs by workflow, since the installation';
