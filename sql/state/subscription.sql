-- SPDX-License-Identifier: Apache-2.0
-- Subscriptions: which events start runs, and the events that housekeeping has yet to start runs for.

create table pawl_data.subscription (
    -- In the order in which the subscriptions of a topic were committed: see after_id.
    subscription_id bigint generated always as identity primary key,
    tenant text not null,
    name text not null,
    topic text not null,
    -- Null: events with any key.
    key text,
    match json,
    -- The paths of the match, and the digest of its values, as waits have them.
    path_set text not null,
    digest bytea not null,
    -- By name: a flow may be deleted and created again.
    workflow text not null,
    -- The input of a run: payload (that of the event) or event (all of it).
    input text not null,
    -- The newest other subscription of the topic when this one was created; 0: none. Unique, so that two transactions that create one
    -- for the same topic follow each other, and the ids have the order of the commits.
    after_id bigint not null,
    paused boolean not null default false,
    paused_at timestamptz,
    paused_by text,
    paused_why text,
    -- After an error, no run is started before this time. Housekeeping continues with deferred events after held_after.
    retry_at timestamptz not null default '-infinity',
    held_after uuid not null default '00000000-0000-0000-0000-000000000000',
    last_error text,
    failed_at timestamptz,
    created_at timestamptz not null,
    constraint subscription_name_is_unique unique (tenant, name),
    constraint subscription_order_is_unique unique (tenant, topic, after_id)
);
comment on table pawl_data.subscription is 'which events start runs of which workflow';

create index subscription_topic_idx on pawl_data.subscription (tenant, topic, subscription_id);

-- One row for each event of a topic that has subscriptions, until housekeeping has started its runs.
create table pawl_data.subscription_event (
    event_id uuid not null,
    tenant text not null,
    -- The newest subscription of the topic when the event was emitted. Newer ones do not get the event.
    last_id bigint not null,
    constraint subscription_event_pkey primary key (event_id)
);
comment on table pawl_data.subscription_event is 'events that runs are to be started for';

-- For sessions that are bound to a tenant.
create index subscription_event_tenant_idx on pawl_data.subscription_event (tenant, event_id);

-- Events that a subscription gets later: it is paused, or its last run could not be started.
create table pawl_data.subscription_held (
    subscription_id bigint not null,
    event_id uuid not null,
    constraint subscription_held_pkey primary key (subscription_id, event_id)
);
comment on table pawl_data.subscription_held is 'events that one subscription gets later';
