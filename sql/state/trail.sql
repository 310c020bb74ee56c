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
    -- log, progress, value, stream.
    kind text not null,
    name text,
    body text not null,
    -- Only in pieces of a stream: the fence of the claim that sent the piece, its number within the claim and within the task, and whether it
    -- is the first piece of an execution of its step.
    fence int,
    seq int,
    total int,
    begins boolean,
    -- A reader follows one task of a run, and the last piece of a task is read with each piece that is stored.
    constraint note_pkey primary key (run_id, task_no, note_no)
) partition by range (run_id);
comment on table pawl_data.note is 'logs, progress, small values and streams kept with a run';
-- The notes of all tasks of a run, without pieces of streams, which can be a hundred times as many.
create index note_plain on pawl_data.note (run_id, note_no) where seq is null;

create table pawl_data.note_kept (like pawl_data.note, constraint note_kept_pkey primary key (run_id, task_no, note_no));
create index note_kept_plain on pawl_data.note_kept (run_id, note_no) where seq is null;
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
