-- SPDX-License-Identifier: Apache-2.0
-- Lanes: the runs of one queue with the same tenant and limit key, of which only so many may be held at a time. A task that waits in a lane
-- is at place l and in no index of pawl_data.task but the primary key, so that runs without lanes pay nothing for them.

-- Queues that have lanes, or had: a row stays, because a trigger that has read that there are lanes may commit later.
create table pawl_data.lane_queue (
    queue_id int not null,
    -- How many tasks of one lane may be held at a time; null: any number. Stored here, too, because a claim does not read the workflow.
    key_limit int,
    -- How many tasks of one lane may start, as 10/min, and how many of these at once; null: any number.
    key_rate text,
    key_burst int,
    -- The limit of all its tasks, whatever their lane, which other queues may share; null: none.
    limit_no int,
    -- A run counts for a limit from its first claim to its end, and not only while a worker holds it. So runs of a lane with the limit 1 keep their
    -- order.
    while_run boolean not null default false,
    constraint lane_queue_pkey primary key (queue_id)
);
comment on table pawl_data.lane_queue is 'queues whose tasks are claimed lane by lane';
create index lane_queue_limit_idx on pawl_data.lane_queue (limit_no) where limit_no is not null;

-- How many tasks of some queues may be held at a time. A claim that takes tasks of one of them locks the row.
create table pawl_data.held_limit (
    limit_no int generated always as identity,
    -- Null: of one workflow. Otherwise any number of workflows share it.
    name text,
    most int not null,
    constraint held_limit_pkey primary key (limit_no),
    constraint held_limit_name_is_unique unique (name)
);
comment on table pawl_data.held_limit is 'limits of whole workflows';

-- Settings of an operator for one lane. A row without any setting is deleted.
create table pawl_data.lane_setting (
    queue_id int not null,
    lane uuid not null,
    tenant text not null,
    limit_key text,
    -- Null: that of the workflow.
    key_limit int,
    key_rate text,
    key_burst int,
    -- How many times as many tasks as other lanes it gives in a turn; null: 1.
    weight int,
    set_at timestamptz,
    set_by text,
    set_why text,
    paused_at timestamptz,
    paused_by text,
    paused_why text,
    constraint lane_setting_pkey primary key (queue_id, lane)
);
comment on table pawl_data.lane_setting is 'lanes with a limit, rate or weight of their own, and paused lanes';

-- A claim locks the row while it takes tasks of the lane. Only claims and housekeeping change it: other calls leave a delta.
create table pawl_data.lane (
    queue_id int not null,
    lane uuid not null,
    tenant text not null,
    limit_key text,
    -- r in the rotation: a claim may find a task in it; f full; e empty; w waits until opens_at, when its rate lets the next task start. A lane
    -- that is full or empty comes back by a delta.
    state "char" not null,
    -- How much the lane has given: a task is 10,000 divided by the weight. The lane that has given least is next. A lane that joins the
    -- rotation starts about where the first one is.
    turn bigint not null,
    turned_at timestamptz not null,
    -- In a lane with a rate each start moves it by the time between two starts, and it is never before the last start. A start is allowed
    -- from opens_at on, which is by the burst earlier. Null: nothing has started.
    paid_until timestamptz,
    opens_at timestamptz,
    constraint lane_pkey primary key (queue_id, lane)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
comment on table pawl_data.lane is 'lanes that have, or had a while ago, tasks';
create index lane_rotation_idx on pawl_data.lane (queue_id, turn) where state = 'r';
create index lane_opens_idx on pawl_data.lane (opens_at) where state = 'w';
-- For workers that are bound to a tenant.
create index lane_tenant_idx on pawl_data.lane (queue_id, tenant, turn) where state = 'r' and tenant <> '';

-- One row for each task at place l. A task that continues is ahead of all others: 32,768 is taken from its priority. That is a task that has
-- been claimed before in this round, in a lane with a rate; and in a queue with while_run, one that counts for the limit.
create table pawl_data.lane_task (
    queue_id int not null,
    lane uuid not null,
    priority smallint not null,
    due_at timestamptz not null,
    run_id uuid not null,
    task_no int not null,
    -- Makes the key unique in any case, so that no insert ever waits for another transaction.
    line_no bigint generated always as identity,
    constraint lane_task_pkey primary key (queue_id, lane, priority, due_at, run_id, task_no, line_no)
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table pawl_data.lane_task is 'tasks that wait in lanes, in the order in which each lane gives them';

-- One row for each held task that a claim took from a lane; in a queue with while_run for each that a claim took, and that has not ended. A claim counts the rows of a lane under the lock of the lane: an end that has not
-- been committed counts as held.
create table pawl_data.lane_hold (
    queue_id int not null,
    lane uuid not null,
    run_id uuid not null,
    task_no int not null,
    constraint lane_hold_pkey primary key (queue_id, lane, run_id, task_no)
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table pawl_data.lane_hold is 'held tasks by lane';

-- Hints that a claim should look at a lane. Insert-only for everybody but the one that holds the lane.
create table pawl_data.lane_delta (
    queue_id int not null,
    lane uuid not null,
    -- f a held task was freed, or the limit has changed; t the lane has a new task; b the same, and the lane was in the rotation; d a
    -- claim that did not lock the lane has taken amount tasks. Before the lane in the key: a claim finds the few lanes that may be open again,
    -- or are new, without those of many full or busy lanes.
    kind "char" not null,
    amount int not null default 0,
    delta_no bigint generated always as identity,
    tenant text not null,
    limit_key text,
    constraint lane_delta_pkey primary key (queue_id, kind, lane, delta_no)
) with (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
comment on table pawl_data.lane_delta is 'lanes in which something has changed';
