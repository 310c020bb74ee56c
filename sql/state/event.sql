-- SPDX-License-Identifier: Apache-2.0
-- Waiting: events, signals, and the waits that may match them.

create table pawl_data.event (
    event_id uuid not null,
    emitted_at timestamptz not null,
    tenant text not null,
    topic text not null,
    key text not null,
    payload json not null,
    constraint event_pkey primary key (event_id)
) partition by range (event_id);
comment on table pawl_data.event is 'what was emitted, kept for a while so that a later wait finds it';
create index event_topic_idx on pawl_data.event (tenant, topic, key, emitted_at, event_id);

-- The one row that emit and wait both change before they look for each other.
create table pawl_data.topic (
    tenant text not null,
    topic text not null,
    key text not null,
    -- Version counter: an emit and a wait both change the row, so that the later of the two sees the earlier.
    beat bigint not null default 0,
    touched_at timestamptz not null,
    -- When the last event was emitted, or earlier than any that is retained: a wait of a run that was triggered later need not look for one.
    emitted_at timestamptz not null default '-infinity',
    -- Sets of JSON paths that open waits match on, each written as one text.
    path_sets text[] not null default '{}',
    constraint topic_pkey primary key (tenant, topic, key)
) with (fillfactor = 70);
comment on table pawl_data.topic is 'meeting point of emits and waits for one topic and key';

create table pawl_data.wait (
    run_id uuid not null,
    task_no int not null,
    -- The identity of the step that waits.
    name text not null,
    -- The letters of pawl_data.step: z sleep, e event, g signal, c child, a approval. Also l: not a wait but a time limit of the run, named
    -- 'timeout', 'expires', 'grace' or 'cancel', that housekeeping enforces; of a cancel topic says why.
    kind "char" not null,
    seq int not null,
    tenant text not null,
    topic text,
    key text,
    -- Digest of the match (paths and values), or of nothing.
    digest bytea,
    match json,
    form json,
    child_id uuid,
    created_at timestamptz not null,
    due_at timestamptz not null,
    constraint wait_pkey primary key (run_id, task_no, name)
);
comment on table pawl_data.wait is 'open waits of runs';
create index wait_event_idx on pawl_data.wait (tenant, topic, key, digest, run_id) where kind = 'e';
create index wait_limit_idx on pawl_data.wait (due_at) where kind = 'l';
create index wait_approval_idx on pawl_data.wait (tenant, run_id) where kind = 'a';

-- Events that had more open waits than one emit completes, and the position of housekeeping in the waits of each.
create table pawl_data.delivery (
    event_id uuid primary key,
    tenant text not null,
    after uuid not null,
    passed_over boolean not null default false,
    due_at timestamptz not null
);
comment on table pawl_data.delivery is 'events that are still being given to waits';

create table pawl_data.signal (
    run_id uuid not null,
    signal_no bigint generated always as identity,
    name text not null,
    sent_at timestamptz not null,
    sent_by text not null,
    payload json not null,
    constraint signal_pkey primary key (run_id, name, signal_no)
);
comment on table pawl_data.signal is 'signals sent to runs and not yet taken';
