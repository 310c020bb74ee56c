-- SPDX-License-Identifier: Apache-2.0
-- The schemas and the one-row settings table. Nothing else may create a schema.

-- A character that the database cannot hold would make whole calls fail, so that one run stops other runs.
do $pawl_encoding$
begin
    if current_setting('server_encoding') <> 'UTF8' then
        raise exception using errcode = '55000',
            message = format('database "%s" has encoding %s; pawl needs UTF8', current_database(),
                current_setting('server_encoding')),
            hint = 'Make another and install there: create database NAME encoding ''UTF8'' template template0.';
    end if;
end
$pawl_encoding$;

create schema pawl;
comment on schema pawl is 'pawl: durable workflows. Its functions, which granted roles call.';

-- 1. A granted role, which may use schema pawl, has read a table of this engine in a transaction that stays open. 2. In another session it
-- sends "create rule r as on insert to ..." for the table. 3. PostgreSQL locks the table first and checks privileges after it. So the
-- refused statement would wait for the lock, and every later call of any session would wait for the statement. A role without the use of a
-- schema cannot even name its tables.
create schema pawl_data;
comment on schema pawl_data is 'the tables of pawl, which only its functions use';

-- One row. Only operator calls change it and, about once a day, housekeeping (partitions_until). So reading it costs one buffer, always.
create table pawl_data.setting (
    only_row boolean primary key default true,
    schema_version int not null,
    -- A worker registers with a protocol number between these two.
    protocol_min int not null default 1,
    protocol_max int not null default 1,
    -- Part of every session, so of every fence. Raised by pawl.raise_epoch().
    epoch int not null default 1,
    -- Ids below this moment have partitions. Moved by housekeeping.
    partitions_until timestamptz not null default '-infinity',
    retention interval not null default '14 days',
    event_retention interval not null default '7 days',
    grace interval not null default '30 s',
    -- Some role is bound to a tenant or is a gateway, or there is a token, so that callers have to be looked up.
    tenants_bound boolean not null default false,
    -- Everything is paused (see pawl_data.pause), and triggers are refused until it is resumed. Stored here, too, because a claim and a trigger
    -- read this row in any case.
    paused boolean not null default false,
    refuses_triggers boolean not null default false,
    -- Whether calls notify idle workers; and roles, by name, for whose calls another value counts than for the database.
    notify boolean not null default true,
    notify_on text[] not null default '{}',
    notify_off text[] not null default '{}',
    payload_max int not null default 1048576,
    crash_max int not null default 5,
    suspect_at int not null default 2,
    -- Sessions that the roles bound to one tenant may have at a time. Other roles have no limit.
    session_max int not null default 1000,
    -- Encrypts cursors that would show a tenant the ids of other tenants' runs.
    cursor_secret uuid not null default gen_random_uuid(),
    -- Goes into the numbers of advisory locks, which any login may take.
    lock_secret uuid not null default gen_random_uuid(),
    -- Goes into the digests of stamps (see act_as_token): who knows it can act for any token.
    acting_secret uuid not null default gen_random_uuid(),
    constraint setting_has_one_row check (only_row)
);
comment on table pawl_data.setting is 'one row of settings for this database';

insert into pawl_data.setting (schema_version) values (1);

-- One row, which changes with each epoch. A separate table, so that a transaction that locks the row blocks no change of a setting.
create table pawl_data.epoch_lock (
    only_row boolean primary key default true,
    epoch int not null,
    constraint epoch_lock_has_one_row check (only_row)
);
comment on table pawl_data.epoch_lock is 'the row that record_step above read committed locks against a new epoch';

insert into pawl_data.epoch_lock (epoch) values (1);

-- A clock must leave no dead row versions, because every reader would walk over them while a snapshot is held. A sequence is changed in
-- place. Values are microseconds since 1970.
create sequence pawl_data.housekeeping_clock minvalue 0 start 0;
comment on sequence pawl_data.housekeeping_clock is 'when the next tick is due';

-- Raised when a queue appears, so that workers know their list of queues is old.
create sequence pawl_data.queue_version;
-- Called once, so that the first change moves it.
select pg_catalog.nextval('pawl_data.queue_version');
comment on sequence pawl_data.queue_version is 'counts changes of the set of queues';

-- Slower chores and their cursors. Changed at most every few seconds.
create table pawl_data.chore (
    chore text primary key,
    due_at timestamptz not null default '-infinity',
    position text,
    -- The last error, and when it occurred; null: none.
    last_error text,
    failed_at timestamptz
);
comment on table pawl_data.chore is 'pieces of housekeeping: when each is due, and what failed in it';

-- Only the owner does the chore tables. The last seven are not chores: their rows hold only failures, of pieces of a tick and of claims.
insert into pawl_data.chore (chore, due_at)
values ('partitions', '-infinity'), ('retention', '-infinity'), ('kept', '-infinity'), ('keys', '-infinity'), ('topics', '-infinity'),
       ('rollup', '-infinity'), ('workers', '-infinity'), ('calendar', '-infinity'), ('tables', '-infinity'), ('lanes', '-infinity'),
       ('lines', '-infinity'),
       ('timers', 'infinity'), ('sessions', 'infinity'), ('limits', 'infinity'), ('deliveries', 'infinity'), ('schedules', 'infinity'),
       ('subscriptions', 'infinity'), ('claims', 'infinity');
