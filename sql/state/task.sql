-- SPDX-License-Identifier: Apache-2.0
-- The hot set: one row for each task that has not ended. Task 0 is the run itself and carries the values that the run needs at its end. The
-- transaction that ends the run moves the row to pawl_data.run. The number of a flow's task is a million times its step, plus the number of
-- the element in a map step. Task 3000018 is the 18th element of step 3. pawl._task_no(), _step_of() and _element_of() compute it.

-- No check constraint and no generated column. PostgreSQL would parse and compile each again for every statement that writes a row, a sixth
-- of the cost of a trigger (measured). The tests check the invariants instead.
create table pawl_data.task (
    run_id uuid not null,
    task_no int not null,
    queue_id int not null,
    -- State of the task: r ready, l ready and in its lane, w waiting, h held, s suspect (ready, but only for a quiet worker), o open. An open
    -- row is the run of a flow, which its other tasks carry out. The transaction that holds that row may change the flow's state.
    place "char" not null,
    priority smallint not null,
    round smallint not null default 1,
    crashes smallint not null default 0,
    -- Raised at every claim, sweep and kill; never reset, not even by a later round.
    fence int not null default 0,
    -- How often the task was claimed and started.
    execution int not null default 0,
    -- The claim in force had started, so that its loss counts as a crash.
    started boolean not null default false,
    -- Records exist that a claim must return.
    recorded boolean not null default false,
    -- A wait was settled while the task was held, so a suspend makes it ready at once.
    woken boolean not null default false,
    -- A step with an undo has started.
    undo boolean not null default false,
    -- The run works off its undos; its outcome is in ending.
    rolling_back boolean not null default false,
    -- Rows of this run live in the kept tables, because its partition is gone or about to go.
    kept boolean not null default false,
    -- The input was large and is in pawl_data.input.
    input_apart boolean not null default false,
    -- Signals, children or a key to free may exist for it.
    attached boolean not null default false,
    -- Why a waiting task waits: retry, sleep, event, signal, child, delay, operator (paused by one), drift (paused by the engine).
    reason text,
    session_id bigint,
    -- The claim request that took it, so that a repeated request gets the same tasks.
    request int,
    due_at timestamptz not null,
    triggered_at timestamptz not null,
    started_at timestamptz,
    claimed_at timestamptz,
    tenant text not null,
    limit_key text,
    -- Set when the task comes into a lane; null: its queue had none so far.
    lane uuid,
    key text,
    parent_id uuid,
    parent_step text,
    -- The task of the parent whose step it is; null is 0.
    parent_task int,
    -- Version of the code that executed it last; null: not given.
    version text,
    input json,
    metadata json,
    -- Failed attempts that will be repeated: step -> {n, of, due, error}.
    retries json,
    -- The run is ending, or is paused: what was requested, when, by whom and why.
    ending json,
    paused json,
    constraint task_pkey primary key (run_id, task_no)
) with (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0.0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.0,
    autovacuum_analyze_threshold = 20000
);
comment on table pawl_data.task is 'tasks that have not ended: the hot set';

-- Four indexes and one more for runs with a tenant: each costs every insert, and a commit must stay within sixteen relations.
create index task_ready_idx on pawl_data.task (place, queue_id, priority, due_at) where place in ('r', 's');
create index task_timer_idx on pawl_data.task (due_at) where place = 'w';
create index task_held_idx on pawl_data.task (session_id, request) where place = 'h';
-- For claims of workers that are bound to a tenant: without it they would walk over the ready tasks of all others. Ready and suspect
-- tasks, as in task_ready_idx, but written so that the planner cannot take that one for it, whatever its statistics say of tenants.
create index task_tenant_idx on pawl_data.task (tenant, queue_id, (place::text), priority, due_at) where tenant <> '' and place::text in ('r', 's');

-- A low-water mark under a held snapshot: no ready task of this queue and priority was due before
-- due_from when it was written, and only transactions of open_xids can commit one later. Insert-only, so that
-- the newest is always found at once.
create table pawl_data.queue_mark (
    queue_id int not null,
    priority smallint not null,
    marked_at timestamptz not null,
    -- When a claim last looked from the beginning.
    walked_at timestamptz not null,
    due_from timestamptz not null,
    -- The transaction that left the mark, if it got its id after the claim had read the clock: younger ones got theirs later than marked_at.
    xid xid8,
    -- Transactions that were in progress and may commit tasks that are due before due_from. After the first of them has ended, claims start at an
    -- earlier mark, whose transaction is older.
    open_xids xid8[] not null,
    constraint queue_mark_pkey primary key (queue_id, priority, marked_at)
);
comment on table pawl_data.queue_mark is 'where a claim may start to look when dead row versions cannot be removed';
