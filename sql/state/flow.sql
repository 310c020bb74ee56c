-- SPDX-License-Identifier: Apache-2.0
-- Flows: workflows whose steps and dependencies are declared. The definition is small and read often; a gate is the
-- only state that a run of a flow has beyond its tasks and its records.

-- Steps are numbered in the order they were added, and depend on earlier ones only: so there is no cycle. Number 0,
-- named run, stands for the end of the run; it is written when the flow is frozen and depends on every leaf.
create table pawl_data.flow_step (
    workflow_id int not null,
    step_no int not null,
    name text not null,
    deps int[] not null,
    -- Of the queue FLOW/STEP; null when the step is a child run or the end.
    queue_id int,
    child_workflow_id int,
    -- Nothing to decide when it starts, but whether it depends on too much, so that many are started by one statement.
    plain boolean not null,
    -- Those of deps that may yield more than a payload: maps, whose elements are gathered, and child runs, which may be flows.
    heavy_deps int[] not null,
    -- A skip of this step, or of one before it, skips the steps that depend on it.
    spreads boolean not null default false,
    -- One task for each element of the array that this step yields; 0: the run's input.
    map_from int,
    condition json,
    -- What becomes of the step when the condition is not met: skip, skip_all (dependents, too), fail.
    unmet text,
    delay interval,
    undo json,
    -- Null: as the run, and as the flow.
    priority smallint,
    max_attempts int,
    base interval,
    factor double precision,
    cap interval,
    jitter double precision,
    -- As it was given, to tell whether a second call says the same.
    options json not null,
    constraint flow_step_pkey primary key (workflow_id, step_no),
    constraint flow_step_name_is_unique unique (workflow_id, name)
);
comment on table pawl_data.flow_step is 'steps of flows';

create table pawl_data.flow_edge (
    workflow_id int not null,
    step_no int not null,
    dependent_no int not null,
    constraint flow_edge_pkey primary key (workflow_id, step_no, dependent_no)
);
comment on table pawl_data.flow_edge is 'which steps of a flow depend on a step';

-- How many more must come before a step of a run can start, or, once a map step has started, before it is done. A
-- row exists from the first to the last of them only. Changed by whoever holds the run's task 0.
create table pawl_data.gate (
    run_id uuid not null,
    step_no int not null,
    missing int not null,
    constraint gate_pkey primary key (run_id, step_no)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000);
comment on table pawl_data.gate is 'joins of flows that are waiting for more';
