-- SPDX-License-Identifier: Apache-2.0
-- Flows: workflows whose steps and dependencies are declared. The definition is small and read often. A gate is the only state that a run
-- of a flow has beyond its tasks and its records.

-- Steps are numbered in the order they were added, and depend on earlier ones only: so there is no cycle. Number 0,
-- named run, stands for the end of the run; it is written when the flow is frozen and depends on every leaf.
create table pawl_data.flow_step (
    workflow_id int not null,
    step_no int not null,
    name text not null,
    deps int[] not null,
    -- The queue FLOW/STEP; null if the step is a child run or the end.
    queue_id int,
    child_workflow_id int,
    -- Its start decides nothing, except whether its dependencies are too large. So one statement starts many such steps.
    plain boolean not null,
    -- The dependencies that may yield more than a payload: maps, whose elements are gathered, and child runs, which may be flows.
    heavy_deps int[] not null,
    -- A skip of this step, or of one before it, skips the steps that depend on it.
    spreads boolean not null default false,
    -- One task for each element of the array that this step yields; 0: the run's input.
    map_from int,
    condition json,
    -- If the condition is not met: skip, skip_all (dependents, too), fail.
    unmet text,
    -- If the step fails after its last attempt: fail (the run, too), skip, skip_all (dependents, too).
    failed text,
    delay interval,
    undo json,
    -- Null: the priority of the run, and the retry policy of the flow.
    priority smallint,
    max_attempts int,
    base interval,
    factor double precision,
    cap interval,
    jitter double precision,
    -- The options as the caller gave them, to find out whether a second call is the same.
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

-- How many dependencies must still end before a step of a run can start; once a map step has started, how many of its tasks. A row exists
-- only from the first of these ends to the last. Only the transaction that holds task 0 of the run changes it.
create table pawl_data.gate (
    run_id uuid not null,
    step_no int not null,
    missing int not null,
    constraint gate_pkey primary key (run_id, step_no)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000);
comment on table pawl_data.gate is 'joins of flows that are waiting for more';
