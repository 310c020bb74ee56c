-- SPDX-License-Identifier: Apache-2.0
-- Actions on many runs, in the background.

create table pawl_data.bulk (
    bulk_no bigint generated always as identity primary key,
    -- retry, cancel, kill, pause, resume, wake or purge.
    act text not null,
    -- Which runs: as the caller gave it, with the bound tenant and the time before which the runs were triggered.
    filter json not null,
    -- Runs in a second.
    rate double precision not null,
    started_at timestamptz not null,
    started_by text not null,
    why text,
    -- Only for cancel: undo what the steps did first.
    rollback boolean not null default false,
    -- Only for wake: end only the backoff or sleep of this step.
    step text,
    -- All matching runs from here on have had their turn, except those in again.
    position uuid not null,
    -- Runs that another transaction held: they get another turn at the end.
    again uuid[] not null default '{}',
    turns int not null default 0,
    -- How many runs each answer was given for.
    answers jsonb not null default '{}',
    due_at timestamptz not null,
    last_error text,
    ended_at timestamptz,
    stopped_by text,
    constraint bulk_act_is_known check (act in ('retry', 'cancel', 'kill', 'pause', 'resume', 'wake', 'purge')),
    constraint bulk_rate_is_sane check (rate > 0 and rate <= 1000)
);
comment on table pawl_data.bulk is 'actions on many runs: what is asked for, and how far it is';
create index bulk_due_idx on pawl_data.bulk (due_at) where ended_at is null;
