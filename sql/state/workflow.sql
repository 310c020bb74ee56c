-- SPDX-License-Identifier: Apache-2.0
-- Definitions and the queues that follow from them. Small tables, read often, written rarely.

create table pawl_data.workflow (
    workflow_id int generated always as identity primary key,
    name text not null,
    queue_id int not null,
    -- Only workers that declare this runtime claim it; null means any worker.
    runtime text,
    priority smallint not null default 100,
    -- Retry policy of steps without their own, and of errors outside any step.
    max_attempts int not null default 5,
    base interval not null default '1 s',
    factor double precision not null default 2,
    cap interval not null default '10 min',
    jitter double precision not null default 0.2,
    -- Limits of a whole run and of each step; null means none.
    run_timeout interval,
    step_timeout interval,
    -- How long a run may be due without being claimed; null means any time.
    expires interval,
    -- Pause a run whose code took another order than its records, instead of only noting it.
    strict_order boolean not null default false,
    -- How many runs with the same limit key may be held at a time; null: any number.
    key_limit int,
    -- How many runs with the same limit key may start, as 10/min, and how many of these at once; null: any number.
    key_rate text,
    key_burst int,
    -- held: a run counts for limits while a worker holds it; run: until it ends.
    limit_while text not null default 'held',
    -- Limit keys and tenants take turns.
    fair boolean not null default false,
    -- Its runs wait in lanes, because it has or had such a limit or rate, or is or was fair.
    laned boolean not null default false,
    -- Its steps are declared in pawl_data.flow_step; from the first trigger on they do not change.
    flow boolean not null default false,
    frozen boolean not null default false,
    description text,
    created_at timestamptz not null,
    constraint workflow_name_is_unique unique (name),
    constraint workflow_name_is_dotted_lower_case check (name ~ '^[a-z0-9_-]+(\.[a-z0-9_-]+)*$' and length(name) <= 200),
    constraint workflow_policy_is_sane check (
        max_attempts >= 1 and base >= '0' and factor >= 1 and cap >= '0' and jitter >= 0 and jitter <= 1)
);
comment on table pawl_data.workflow is 'named definitions of workflows';

-- JSON Schemas of the inputs of workflows, for those who show a form. Not a column of workflow, because each trigger and each retry reads
-- the whole row of its workflow, and a schema may have 64 kB.
create table pawl_data.input_schema (
    workflow_id int primary key,
    input_schema json not null
);
comment on table pawl_data.input_schema is 'JSON Schemas that describe the input of workflows';

create table pawl_data.queue (
    queue_id int generated always as identity primary key,
    name text not null,
    workflow_id int not null,
    -- The limit of the workflow, or of the flow's step. Stored here, too, because a claim reads the queue and not the workflow.
    step_timeout interval,
    constraint queue_name_is_unique unique (name)
);
comment on table pawl_data.queue is 'where tasks wait; named after the handler';

-- A row here means: nothing of this workflow or queue is claimed. Pausing changes no run. Subject all, with an empty name: nothing at all is
-- claimed, and no schedule fires; setting.paused says the same.
create table pawl_data.pause (
    subject text not null,
    name text not null,
    paused_at timestamptz not null,
    paused_by text not null,
    why text,
    constraint pause_is_unique primary key (subject, name),
    constraint pause_subject_is_known check (subject in ('workflow', 'queue', 'all'))
);
comment on table pawl_data.pause is 'what an operator has paused';
