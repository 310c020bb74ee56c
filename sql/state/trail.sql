-- SPDX-License-Identifier: Apache-2.0
-- The audit rows of a run, about what is unusual in its life, and the notes of its handler.

create sequence pawl_data.trail_no;
comment on sequence pawl_data.trail_no is 'orders audit rows and notes';

create table pawl_data.audit (
    run_id uuid not null,
    audit_no bigint not null,
    task_no int not null,
    at timestamptz not null,
    what text not null,
    who text,
    detail json,
    constraint audit_pkey primary key (run_id, audit_no)
) partition by range (run_id);
comment on table pawl_data.audit is 'unusual events in the life of a run';

create table pawl_data.audit_kept (like pawl_data.audit, constraint audit_kept_pkey primary key (run_id, audit_no));
comment on table pawl_data.audit_kept is 'audit of runs that outlived the partition of their day';

create table pawl_data.note (
    run_id uuid not null,
    note_no bigint not null,
    task_no int not null,
    at timestamptz not null,
    -- log, progress, value.
    kind text not null,
    name text,
    body text not null,
    constraint note_pkey primary key (run_id, note_no)
) partition by range (run_id);
comment on table pawl_data.note is 'logs, progress and small values kept with a run';

create table pawl_data.note_kept (like pawl_data.note, constraint note_kept_pkey primary key (run_id, note_no));
comment on table pawl_data.note_kept is 'notes of runs that outlived the partition of their day';

-- Operator actions that concern no single run.
create table pawl_data.action (
    action_no bigint generated always as identity primary key,
    at timestamptz not null,
    what text not null,
    who text not null,
    detail json
);
comment on table pawl_data.action is 'operator actions on workflows, queues, workers and the database';
