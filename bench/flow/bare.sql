-- SPDX-License-Identifier: Apache-2.0
-- What a run of a flow writes, by hand: tables of the engine's shape without anything else, and three statements.

create table task (
    run_id uuid not null, task_no int not null, place smallint not null, fence int not null default 0, due_at timestamptz not null,
    claimed_at timestamptz, input json, primary key (run_id, task_no)) with (fillfactor = 90);
create index task_ready_idx on task (place, due_at) where place = 0;
create index task_held_idx on task (place) where place = 2;
create table step (
    run_id uuid not null, task_no int not null, name text not null, fence int not null, started_at timestamptz not null,
    ended_at timestamptz not null, output json, primary key (run_id, task_no, name));
create table run (
    run_id uuid primary key, ended_at timestamptz not null, input json, output json);
create table gate (run_id uuid not null, step_no int not null, missing int not null, primary key (run_id, step_no)) with (fillfactor = 50);
-- The flow: what depends on a step, and on how many that depends. Step 0 is the end.
create table edge (step_no int not null, dependent_no int not null, needed int not null, primary key (step_no, dependent_no));
create index edge_dependent_idx on edge (dependent_no);
