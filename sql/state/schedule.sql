-- SPDX-License-Identifier: Apache-2.0
-- Schedules, and the nominal times at which they did not trigger a run. Small tables; housekeeping changes a row at each nominal time.

create table pawl_data.schedule (
    schedule_id bigint generated always as identity primary key,
    tenant text not null,
    name text not null,
    -- By name: a flow may be deleted and created again.
    workflow text not null,
    -- One of these three says when.
    cron text,
    every interval,
    once_at timestamptz,
    zone text not null,
    input json not null,
    priority int,
    metadata json,
    limit_key text,
    -- Which of the times that have passed are made up for: none, last, all; and how old they may be.
    catch_up text not null,
    catch_up_within interval not null,
    -- How a time is handled while the run of an earlier one lives: skip, queue, cancel, allow.
    overlap text not null,
    jitter interval not null,
    starts_at timestamptz,
    ends_at timestamptz,
    -- Times of an interval are whole multiples of it away from here.
    anchor_at timestamptz not null,
    -- The last time that was handled, the next one, and when that is to be fired (jitter); infinity: there is none.
    handled_at timestamptz not null,
    next_at timestamptz not null,
    fire_at timestamptz not null,
    computed_at timestamptz not null,
    -- More runs were due than one turn triggers: those that are on time come first.
    backlog boolean not null default false,
    -- A time that waits until the run of an earlier one has ended (overlap queue and cancel).
    waiting_at timestamptz,
    paused boolean not null default false,
    -- The last pause, and how the times in it are handled.
    paused_at timestamptz,
    paused_by text,
    paused_why text,
    resumed_at timestamptz,
    resumed_catch_up text,
    -- Earlier pauses with times that are not handled yet, and how these are.
    earlier_pauses tstzrange[] not null default '{}',
    earlier_catch_ups text[] not null default '{}',
    last_at timestamptz,
    last_run uuid,
    fired bigint not null default 0,
    skipped bigint not null default 0,
    missed bigint not null default 0,
    -- The row of schedule_skip that a further time of the same kind continues.
    skip_at timestamptz,
    last_error text,
    failed_at timestamptz,
    created_at timestamptz not null,
    constraint schedule_name_is_unique unique (tenant, name),
    constraint schedule_has_one_calendar check (num_nonnulls(cron, every, once_at) = 1)
);
comment on table pawl_data.schedule is 'when runs are triggered: by a calendar, an interval or once';

create index schedule_due_idx on pawl_data.schedule (fire_at) where not paused;
create index schedule_on_time_idx on pawl_data.schedule (fire_at) where not paused and not backlog;
-- For sessions that are bound to a tenant.
create index schedule_tenant_due_idx on pawl_data.schedule (tenant, fire_at) where not paused;

-- One row for nominal times that follow each other and were skipped for one reason.
create table pawl_data.schedule_skip (
    schedule_id bigint not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    times bigint not null,
    -- missed, paused, overlap.
    reason text not null,
    -- overlap: the run that had not ended.
    run_id uuid,
    noted_at timestamptz not null,
    constraint schedule_skip_pkey primary key (schedule_id, first_at)
);
comment on table pawl_data.schedule_skip is 'nominal times of a schedule at which no run was triggered';

create index schedule_skip_noted_idx on pawl_data.schedule_skip (noted_at);
