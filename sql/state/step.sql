-- SPDX-License-Identifier: Apache-2.0
-- Records of steps: one row each, written at the step's end; partitioned by the day in the run id.
-- Only a step with an undo writes its row when it starts and changes it once.

create table pawl_data.step (
    run_id uuid not null,
    task_no int not null,
    round smallint not null,
    -- s SUCCESS, e ERROR, r RUNNING (started, with an undo), k SKIPPED.
    state "char" not null,
    -- s step, z sleep, e event, g signal, c child, a approval.
    kind "char" not null,
    -- Order of first start within the run.
    seq int not null,
    attempt int not null,
    fence int not null,
    started_at timestamptz not null,
    ended_at timestamptz,
    -- BRANCH/NAME#n, or rollback: followed by that. The record of a flow's task has the name of its step, without a #.
    name text not null,
    output json,
    error json,
    -- Handler, argument and policy of the undo.
    undo json,
    -- The event, child or source run that the record came from.
    source_id uuid,
    constraint step_pkey primary key (run_id, task_no, name, round)
) partition by range (run_id);
comment on table pawl_data.step is 'the result of each step of a run';

create table pawl_data.step_kept (like pawl_data.step, constraint step_kept_pkey primary key (run_id, task_no, name, round));
comment on table pawl_data.step_kept is 'steps of runs that outlived the partition of their day';
