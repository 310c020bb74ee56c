-- SPDX-License-Identifier: Apache-2.0
-- Problems of the database that the engine runs in, present or to come: each finding with its cure.

-- A setting that is not as it should be.
create or replace function pawl._settings_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select v.what, v.level, format('%s is %s: %s', v.what, s.setting, v.meaning), v.cure
    from (values
        ('fsync', 'error', 'off', 'a crash of the machine can destroy the database', 'Set fsync to on in postgresql.conf.'),
        ('full_page_writes', 'error', 'off', 'a crash of the machine can destroy the database',
         'Set full_page_writes to on in postgresql.conf.'),
        ('synchronous_commit', 'error', 'off', 'what a worker was told is durable can be lost in a crash',
         'Set synchronous_commit to on for the roles of workers and producers.'),
        ('autovacuum', 'error', 'off', 'dead rows pile up and claims become slow', 'Set autovacuum to on in postgresql.conf.'),
        ('track_counts', 'error', 'off', 'autovacuum does not know what to do', 'Set track_counts to on in postgresql.conf.'),
        ('default_transaction_read_only', 'error', 'on', 'nothing can be written', 'Set default_transaction_read_only to off.'),
        ('default_transaction_isolation', 'warning', 'repeatable read, serializable', 'calls in a transaction of your own are refused',
         'Begin such transactions with isolation level read committed.')
    ) v (what, level, bad, meaning, cure)
    join pg_settings s on s.name = v.what and s.setting = any (string_to_array(v.bad, ', '));
    return query
    select s.name, 'warning', format('%s is %s ms: a large batch may be cut off, and is sent again in smaller ones', s.name, s.setting),
           'Set it to 0 or to 30 seconds and more for the role of your workers.'
    from pg_settings s where s.name = 'statement_timeout' and s.setting::bigint between 1 and 29999;
    return query
    select s.name, 'warning', format('%s is %s MB: there will be a checkpoint every few seconds under load', s.name, s.setting),
           'Set max_wal_size to 4 GB or more.'
    from pg_settings s where s.name = 'max_wal_size' and s.setting::bigint < 1024;
end
$$;
comment on function pawl._settings_found() is 'settings of the server that do harm';

-- Finds transactions and replication slots that keep dead rows from being removed.
create or replace function pawl._snapshots_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select 'old snapshot', case when a.xact_start < p_now - interval '1 hour' then 'error' else 'warning' end,
           format('process %s has had a transaction open since %s: dead rows stay until it ends', a.pid,
                  to_char(a.xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           format('End it, or set idle_in_transaction_session_timeout. By force: select pg_terminate_backend(%s)', a.pid)
    from pg_stat_activity a
    where a.datname = current_database() and a.backend_xmin is not null and a.xact_start < p_now - interval '10 min'
    order by a.xact_start
    limit 5;
    return query
    select 'prepared transaction', 'error', format('transaction "%s" is prepared since %s and holds its locks', left(p.gid, 60),
               to_char(p.prepared at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"')),
           'Commit it or roll it back: rollback prepared.'
    from pg_prepared_xacts p
    where p.database = current_database() and p.prepared < p_now - interval '10 min'
    order by p.prepared
    limit 5;
    return query
    select 'replication slot', 'warning', format('slot "%s" is not in use and keeps WAL, or dead rows, for a consumer that is gone', s.slot_name),
           'Drop it if no consumer needs it: select pg_drop_replication_slot(its name).'
    from pg_replication_slots s
    where not s.active
    limit 5;
end
$$;
comment on function pawl._snapshots_found(timestamptz) is 'transactions and slots that keep dead rows';

-- The engine's tables and their columns; a test compares the list with sql/state. Those that end in _kept have the same ones.
create or replace function pawl._columns()
returns table (name text, columns text[])
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select t.name, string_to_array(t.columns, ' ')
    from (values
        ('action', 'action_no at detail what who'),
        ('audit', 'at audit_no detail run_id task_no what who'),
        ('bound_tenant', 'tenant'),
        ('bulk', 'act again answers bulk_no due_at ended_at filter last_error position rate rollback started_at started_by step stopped_by turns why'),
        ('chore', 'chore due_at failed_at last_error position'),
        ('delivery', 'after due_at event_id passed_over tenant'),
        ('epoch_lock', 'epoch only_row'),
        ('event', 'emitted_at event_id key payload tenant topic'),
        ('flow_edge', 'dependent_no step_no workflow_id'),
        ('flow_step', 'base cap child_workflow_id condition delay deps factor failed heavy_deps jitter map_from max_attempts name options plain priority queue_id spreads step_no undo unmet workflow_id'),
        ('gate', 'missing run_id step_no'),
        ('bell', 'only_row'),
        ('freed', 'day piece'),
        ('granted', 'privilege_set role_name tenant'),
        ('held_limit', 'limit_no most name'),
        ('input', 'input run_id'),
        ('input_schema', 'input_schema workflow_id'),
        ('key', 'digest expires_at key last_id run_id tenant workflow_id'),
        ('lane', 'lane limit_key opens_at paid_until queue_id state tenant turn turned_at'),
        ('lane_delta', 'amount delta_no kind lane limit_key queue_id tenant'),
        ('lane_hold', 'lane queue_id run_id task_no'),
        ('lane_queue', 'key_burst key_limit key_rate limit_no queue_id while_run'),
        ('lane_setting', 'key_burst key_limit key_rate lane limit_key paused_at paused_by paused_why queue_id set_at set_by set_why tenant weight'),
        ('lane_task', 'due_at lane line_no priority queue_id run_id task_no'),
        ('metric', 'cancelled failed minute seconds_buckets seconds_max seconds_sum succeeded tenant waited_buckets waited_sum workflow_id'),
        ('metric_total', 'cancelled failed named seconds_buckets seconds_sum succeeded waited_buckets waited_sum workflow_id'),
        ('note', 'at begins body fence kind name note_no run_id seq task_no total'),
        ('pause', 'name paused_at paused_by subject why'),
        ('queue', 'name queue_id step_timeout workflow_id'),
        ('queue_mark', 'due_from marked_at open_xids priority queue_id walked_at xid'),
        ('ring', 'queue_id tenant'),
        ('run', 'ended_at error execution fence input input_apart key key_freed limit_key metadata output parent_id parent_step parent_task priority queue_id rolled_back round run_id session_id started_at status tenant triggered_at version'),
        ('schedule', 'anchor_at backlog catch_up catch_up_within computed_at created_at cron earlier_catch_ups earlier_pauses ends_at every failed_at fire_at fired handled_at input jitter last_at last_error last_run limit_key metadata missed name next_at once_at overlap paused paused_at paused_by paused_why priority resumed_at resumed_catch_up schedule_id skip_at skipped starts_at tenant waiting_at workflow zone'),
        ('schedule_skip', 'first_at last_at noted_at reason run_id schedule_id times'),
        ('subscription', 'after_id created_at digest failed_at held_after input key last_error match name path_set paused paused_at paused_by paused_why retry_at subscription_id tenant topic workflow'),
        ('subscription_event', 'event_id last_id tenant'),
        ('subscription_held', 'event_id subscription_id'),
        ('setting', 'acting_secret crash_max cursor_secret epoch event_retention grace lock_secret notify notify_off notify_on only_row partitions_until paused payload_max protocol_max protocol_min refuses_triggers retention schema_version session_max suspect_at tenants_bound'),
        ('signal', 'name payload run_id sent_at sent_by signal_no'),
        ('step', 'attempt ended_at error fence kind name output round run_id seq source_id started_at state task_no undo'),
        ('tag', 'run_id tag tenant'),
        ('task', 'attached claimed_at crashes due_at ending execution fence input input_apart kept key lane limit_key metadata parent_id parent_step parent_task paused place priority queue_id reason recorded request retries rolling_back round run_id session_id started started_at task_no tenant triggered_at undo version woken'),
        ('tenant_bell', 'only_row'),
        ('token', 'created_at created_by digest expires_at name revoked_at rights tenant token_id'),
        ('topic', 'beat emitted_at key path_sets tenant topic touched_at'),
        ('wait', 'child_id created_at digest due_at form key kind match name run_id seq task_no tenant topic'),
        ('worker', 'client draining ended_at ended_why handles idle lease lease_until listens listens_since name next_limit_at protocol queue_ids queue_version registered_at reported_at running runtimes session_id starved_since tenant version'),
        ('worker_queue', 'queue_id session_id'),
        ('workflow', 'base cap created_at description expires factor fair flow frozen jitter key_burst key_limit key_rate laned limit_while max_attempts name priority queue_id run_timeout runtime step_timeout strict_order workflow_id')
    ) t (name, columns);
end
$$;
comment on function pawl._columns() is 'the engine''s tables and their columns';

-- Partitions that should be there: of today and tomorrow, of days that a living run writes to, and of each retained day that another table
-- of runs has one for; of events also each day between the first and the last.
create or replace function pawl._missing_partitions(p_now timestamptz)
returns table (parent text, name text, day date)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_today date := (p_now at time zone 'UTC')::date;
begin
    return query
    with there as materialized (
        select p.* from pawl._partitions(pawl._run_tables() || 'event'::text) p
    ), needed (parent, day) as (
        select t.parent, v_today + d from unnest(pawl._run_tables() || 'event'::text) t (parent), generate_series(0, 1) d
        union
        select t.parent, h.day from unnest(pawl._run_tables()) t (parent), there h where h.parent <> 'event'
        union
        select t.parent, n.day from unnest(pawl._run_tables()) t (parent), pawl._days_needed(v_today) n
        union
        select 'event', e.first_day + d
        from (select min(h.day) as first_day, max(h.day) as last_day from there h where h.parent = 'event') e
        cross join lateral generate_series(0, e.last_day - e.first_day) d
    )
    select n.parent, pawl._partition_name(n.parent, n.day), n.day
    from needed n
    -- guard:doctor_partitions
    where n.day >= pawl._first_day(n.parent, p_now)
      and not exists (select from there h where h.parent = n.parent and h.day = n.day);
end
$$;
comment on function pawl._missing_partitions(timestamptz) is 'partitions that should be there and are not';

-- Partitions, indexes, dead rows and chores of the engine itself.
create or replace function pawl._state_found(p_now timestamptz)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_today date := (p_now at time zone 'UTC')::date;
begin
    return query
    select 'partitions', 'error',
           case when to_regclass('pawl_data.' || m.name) is null then format('there is no partition %s: nothing of that day can be recorded', m.name)
                else format('table %s is not a partition of %s any more: nothing of that day can be recorded', m.name, m.parent) end,
           case when to_regclass('pawl_data.' || m.name) is not null
                then format('alter table pawl_data.%I attach partition pawl_data.%I for values from (%L) to (%L)', m.parent, m.name,
                         pawl._id_floor(m.day::timestamp at time zone 'UTC'), pawl._id_floor((m.day + 1)::timestamp at time zone 'UTC'))
                when m.day >= v_today then 'Call pawl.tick(true), and see that a worker or pawl keeper does so from now on.'
                else format('Restore it from a backup, or make an empty one as the owner: select pawl._make_partition(%L, %L)', m.parent, m.day) end
    from pawl._missing_partitions(p_now) m
    order by m.name
    limit 5;
    return query
    select 'columns', 'error', format('table %s has a column %I that is not the engine''s: calls that write or read whole rows fail', c.relname, a.attname),
           format('alter table pawl_data.%I drop column %I', c.relname, a.attname)
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    -- guard:doctor_columns
    join pawl._columns() e on e.name = replace(c.relname, '_kept', '') and a.attname <> all (e.columns)
    where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p')
    order by c.relname, a.attname
    limit 5;
    return query
    select 'old partitions', 'warning', format('%s empty tables of %s past days are still there', count(*), count(distinct p.day)),
           'As the owner, run pawl housekeep once in a while, or pawl keeper all the time: it takes them away.'
    from pawl._partitions(pawl._run_tables() || 'event'::text) p
    where p.day < pawl._first_day(p.parent, p_now)
    having count(distinct p.day) > 60;
    return query
    select 'keeper', 'error', 'no caller does housekeeping for all tenants', pawl._keeper_cure() || '.'
    where pawl._keeper_missing(p_now) and exists (
        select from pawl_data.worker w where pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now));
    return query
    select 'index', 'error', format('index %s is not valid', c.relname), format('reindex index pawl_data.%I', c.relname)
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = 'pawl_data'::regnamespace and not i.indisvalid
    order by c.relname
    limit 5;
    return query
    select 'dead rows', 'warning', format('table %s has %s dead and %s live rows, and was last vacuumed %s', s.relname, s.n_dead_tup,
               s.n_live_tup, coalesce(to_char(greatest(s.last_vacuum, s.last_autovacuum) at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), 'never')),
           format('Look for old snapshots above; then: vacuum pawl_data.%I', s.relname)
    from pg_stat_user_tables s
    where s.schemaname = 'pawl_data' and s.n_dead_tup > 100000 and s.n_dead_tup > 5 * s.n_live_tup
    order by s.n_dead_tup desc
    limit 5;
    return query
    select 'chore ' || c.chore, 'error', format('the last round failed: %s', c.last_error), 'Mend what it says; it is tried again every minute.'
    from pawl_data.chore c
    -- An error of a piece that every tick executes is shown for ten minutes after its last failure.
    where c.last_error is not null and (c.chore not in ('timers', 'sessions', 'limits', 'deliveries', 'schedules', 'subscriptions', 'claims') or c.failed_at > p_now - interval '10 min')
    order by c.chore;
end
$$;
comment on function pawl._state_found(timestamptz) is 'what is missing or broken in the engine''s own tables';

-- Privileges that differ from pawl_data.granted, granted roles that do not exist, objects that the owner of the schema does not own.
create or replace function pawl._privileges_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:doctor_rights
    return query
    select 'privileges', 'error',
           case when d.surplus
                then format('%s has %s on %s of schemas pawl and pawl_data that no grant names, for example %s', d.role, d.privileges, d.number, d.example)
                else format('%s lacks %s on %s of schemas pawl and pawl_data that a grant names, for example %s', d.role, d.privileges, d.number, d.example) end,
           case when d.surplus then 'As the owner, install pawl again, or call pawl.grant_role() for any role: either revokes them.'
                else 'As the owner, install pawl again, or call pawl.grant_role() for any role: either gives them back.' end
    from (
        select d.surplus, d.grantee, case d.grantee when 0 then 'PUBLIC' else format('role "%s"', pg_get_userbyid(d.grantee)) end as role,
               string_agg(distinct d.privilege, ', ') as privileges,
               count(distinct d.object) || ' ' || case when count(distinct d.object) = 1 then 'object' else 'objects' end as number,
               -- The worst one first.
               (array_agg(d.object order by d.object like 'pawl.grant\_role(%' desc, d.kind = 'table' desc, d.kind = 'schema' desc, d.object))[1] as example
        from (
            select d.surplus, d.kind, d.grantee, d.privilege,
                   case d.kind when 'schema' then d.object::regnamespace::text when 'routine' then d.object::regprocedure::text else d.object::regclass::text end as object
            from pawl._privileges_that_differ() d
        ) d
        group by d.surplus, d.grantee
    ) d
    order by d.surplus desc, d.grantee
    limit 5;
    return query
    select 'granted role', 'warning', format('role "%s" was granted %s and does not exist in this cluster', g.role_name, string_agg(g.privilege_set, ', ' order by g.privilege_set)),
           format('Create the role and install pawl again, or forget it: select pawl.revoke_role(%L, ''%s'')', g.role_name, min(g.privilege_set))
    from pawl_data.granted g
    where not exists (select from pg_roles r where r.rolname = g.role_name)
    group by g.role_name
    order by g.role_name
    limit 5;
    -- 1. A role with the privilege CREATE on the schema makes a function that fits a call of the engine better than the engine's own.
    -- 2. The engine calls it, as the owner.
    return query
    select 'owner', 'error', format('%s belongs to role "%s" and not to the owner of schema pawl', o.object, pg_get_userbyid(o.owner)),
           'Drop it, or give it to the owner of the schema: alter ... owner to.'
    from (
        select p.oid::regprocedure::text, p.proowner from pg_proc p where p.pronamespace = 'pawl'::regnamespace
        union all
        select c.oid::regclass::text, c.relowner from pg_class c
        where c.relnamespace in ('pawl'::regnamespace, 'pawl_data'::regnamespace) and c.relkind in ('r', 'p', 'S', 'v', 'm', 'f')
        union all
        -- The owner of the schema could use the tables, whatever was granted.
        select 'schema pawl_data', n.nspowner from pg_namespace n where n.nspname = 'pawl_data'
    ) o (object, owner)
    where o.owner <> (select n.nspowner from pg_namespace n where n.nspname = 'pawl')
    order by o.object
    limit 5;
end
$$;
comment on function pawl._privileges_found() is 'privileges that differ from what was granted';

-- Returns what the live workers are, as far as they say it: "2 libpawl/0.1.0, 1 pawl-python/0.1 with code 7"; null: none does.
create or replace function pawl._clients_shown(p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select string_agg(c.n || ' ' || c.client || coalesce(' with code ' || c.version, ''), ', ' order by c.n desc, c.client, c.version)
        from (
            select w.client, w.version, count(*) as n
            from pawl_data.worker w
            where w.client <> '' and pawl._is_live(w.session_id, w.ended_at, w.lease_until, p_now)
            group by w.client, w.version
            order by 3 desc, 1, 2
            limit 5
        ) c);
end
$$;
comment on function pawl._clients_shown(timestamptz) is 'libraries of the live workers and versions of their code, in words';

create or replace function pawl.doctor()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_setting pawl_data.setting := (select s from pawl_data.setting s where s.only_row);
    v_workers int := (select count(*) from pawl_data.worker w where pawl._is_live(w.session_id, w.ended_at, w.lease_until, v_now));
begin
    perform pawl._only_unbound('doctor');
    return query
    values ('schema', 'ok', format('version %s, epoch %s, owned by %s', v_setting.schema_version, v_setting.epoch,
               (select pg_get_userbyid(n.nspowner) from pg_namespace n where n.nspname = 'pawl')), null),
           ('server', 'ok', format('PostgreSQL %s, encoding %s', current_setting('server_version'), current_setting('server_encoding')), null),
           ('replication', 'ok', case when current_setting('synchronous_standby_names') = ''
                then 'no synchronous standby: a failover may lose the last commits; if it does, raise the epoch'
                else 'synchronous standbys: ' || current_setting('synchronous_standby_names') end, null),
           ('workers', case when v_workers > 0 then 'ok' else 'warning' end, concat_ws(': ', v_workers || ' live', pawl._clients_shown(v_now)),
            case when v_workers = 0 then 'Start a worker; nothing is executed until then.' end);
    return query select f.* from pawl._privileges_found() f;
    return query select f.* from pawl._settings_found() f;
    return query select f.* from pawl._snapshots_found(v_now) f;
    return query select f.* from pawl._state_found(v_now) f;
    return query select f.* from pawl._work_found(v_now) f;
    return query select f.* from pawl._exposure_found() f;
end
$$;
comment on function pawl.doctor() is
'Looks at the database that the engine stands on: versions, privileges that differ from what was granted, granted roles that do not exist, settings that do harm, old snapshots, prepared transactions, unused slots, missing partitions, columns that others have added to the engine''s tables, invalid indexes, dead rows, pieces of housekeeping that fail, a keeper that is missing, settings that write payloads to the server''s log, roles without timeouts or connection limits, a notification queue that fills up, two-phase commit while every role notifies, a connection without encryption; and at the work: queues with a backlog and no live worker, or paused, lost workers, stuck rollbacks, runs that drift has paused, waits for events, signals and approvals that are older than a week, counts that stand still, schedules that are late or cannot trigger their runs, subscriptions that cannot start theirs. level is ok, warning or error; every warning and error has its cure. What the role of the engine''s owner may not see of other sessions is not found.
If repeated: returns the same, or what has changed since.
Locks: none.
Errors: PW007 the role is bound to one tenant.
Limits: five findings of each kind; of the work, the newest 2,000 failed runs, 10,000 runs that wait without a time limit, the 10,000 oldest waits and the newest 1,000 sessions are looked at, and it says when there are more.';
