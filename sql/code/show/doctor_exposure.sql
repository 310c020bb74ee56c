-- SPDX-License-Identifier: Apache-2.0
-- Findings of doctor about logs, connections, roles and notifications: ways by which payloads leave the database, or callers block others.

-- Settings of the server that write payloads to its log. The verbs are selects, so log_statement = mod logs none of them.
create or replace function pawl._logging_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Why some statements are logged, or null.
    v_logged text := (
        select string_agg(format('%s is %s', s.name, s.setting || coalesce(' ' || s.unit, '')), ', ' order by s.name)
        from pg_settings s
        where s.name = 'log_statement' and s.setting = 'all'
           or s.name in ('log_min_duration_statement', 'log_min_duration_sample') and s.setting <> '-1'
           or s.name = 'log_transaction_sample_rate' and s.setting <> '0');
begin
    if current_setting('log_statement') = 'all' then
        return query values ('log_statement', 'warning', 'log_statement is all: the text of every statement is in the server''s log, and payloads that are written in it',
            'Set log_statement to mod or ddl, and pass payloads as parameters.');
    end if;
    if v_logged is not null and current_setting('log_parameter_max_length') <> '0' then
        return query values ('log_parameter_max_length', 'warning', format('log_parameter_max_length is %s and %s: statements are logged with their parameters, and these hold payloads',
            current_setting('log_parameter_max_length'), v_logged),
            'Set log_parameter_max_length to 0.');
    end if;
    if current_setting('log_parameter_max_length_on_error') <> '0' then
        return query values ('log_parameter_max_length_on_error', 'warning', format('log_parameter_max_length_on_error is %s: statements that fail are logged with their parameters, and these hold payloads',
            current_setting('log_parameter_max_length_on_error')),
            'Set log_parameter_max_length_on_error to 0.');
    end if;
end
$$;
comment on function pawl._logging_found() is 'settings that write payloads to the server''s log';

-- Returns a setting as a session of the role in this database begins with it. The first of these counts: the role's value for this
-- database, the role's own, the database's, the value for all roles, the server's.
create or replace function pawl._setting_of(p_role oid, p_name text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return coalesce(
        (select substr(c, length(p_name) + 2)
         from pg_db_role_setting d
         cross join unnest(d.setconfig) c
         where d.setdatabase in (0, (select b.oid from pg_database b where b.datname = current_database())) and d.setrole in (0, p_role)
           and starts_with(c, p_name || '=')
         order by d.setrole = 0, d.setdatabase = 0
         limit 1),
        -- In this session the value may be that of the caller, or of the transaction, so only values from the server count.
        (select s.reset_val from pg_settings s
         where s.name = p_name and s.source in ('default', 'configuration file', 'command line', 'environment variable')),
        '0');
end
$$;
comment on function pawl._setting_of(oid, text) is 'a setting of the sessions that a role begins';

-- Logins with rights here whose sessions have no time limits, or no limit on their number.
create or replace function pawl._roles_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    with recursive holder (oid) as (
        select r.oid from pg_roles r join pawl_data.granted g on g.role_name = r.rolname
        union
        select m.member from pg_auth_members m join holder h on m.roleid = h.oid
    ), missing as (
        select r.rolname,
               array_remove(array[
                   case when pawl._setting_of(r.oid, 'statement_timeout') ~ '^0+ *[a-z]*$' then 'statement_timeout' end,
                   case when pawl._setting_of(r.oid, 'idle_in_transaction_session_timeout') ~ '^0+ *[a-z]*$'
                        then 'idle_in_transaction_session_timeout' end,
                   case when r.rolconnlimit < 0 then 'connection limit' end], null) as names
        from holder h
        join pg_roles r on r.oid = h.oid
        where r.rolcanlogin and not r.rolsuper
    )
    select 'role ' || m.rolname, 'warning', format('role "%s" has no %s: one program can hold locks and connections that others wait for', m.rolname,
               array_to_string(m.names, ', no ')),
           array_to_string(array(
               select case when n = 'connection limit' then format('alter role %I connection limit 50', m.rolname)
                           else format('alter role %I set %s to ''60s''', m.rolname, n) end
               from unnest(m.names) n), '; ') || '; with the numbers that it needs'
    from missing m
    where m.names <> '{}'
    order by cardinality(m.names) desc, m.rolname
    limit 5;
end
$$;
comment on function pawl._roles_found() is 'roles without timeouts or connection limits';

create or replace function pawl._notify_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_usage double precision := case when pg_is_in_recovery() then 0 else pg_notification_queue_usage() end;
    v_setting pawl_data.setting := (select s from pawl_data.setting s where s.only_row);
begin
    if v_usage > pawl._notify_usage_max() then
        return query values ('notifications', 'warning', format('the notification queue of the server is %s %% full: calls notify no worker, and workers find work by polling', round((100 * v_usage)::numeric)),
            'A session that listens in an open transaction keeps the queue from being emptied. End it: look for the oldest xact_start in pg_stat_activity.');
    end if;
    if (select count(*) from pawl_data.worker w where w.listens and w.ended_at is null) >= pawl._listeners_max() then
        return query values ('notifications', 'info', format('%s workers listen for notifications, which is as many as may: others find work by polling', pawl._listeners_max()),
            'Nothing needs to be done. For a shorter delay, let fewer workers handle more workflows each, or set their poll interval.');
    end if;
    if current_setting('max_prepared_transactions') <> '0' and v_setting.notify and v_setting.notify_off = '{}' then
        return query values ('two-phase commit', 'warning', format('max_prepared_transactions is %s, and every role notifies: PREPARE TRANSACTION fails after a call that notified a worker',
            current_setting('max_prepared_transactions')),
            'For each role that uses PREPARE TRANSACTION: select * from pawl.set_notify(''off'', role). If no role does, set max_prepared_transactions to 0.');
    end if;
end
$$;
comment on function pawl._notify_found() is 'what keeps workers from being notified, or callers from preparing transactions';

-- The caller's own connection. Only the client knows whether it has verified the server.
create or replace function pawl._connection_found(p_address inet, p_encrypted boolean)
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select 'connection', 'warning', format('this connection comes from %s without encryption: a machine in between can read and change everything', host(p_address)),
           'Set sslmode to verify-full, and let pg_hba.conf accept other hosts by hostssl only.'
    where not p_encrypted and not (p_address <<= '127.0.0.0/8' or p_address <<= '::1/128');
end
$$;
comment on function pawl._connection_found(inet, boolean) is 'what is wrong with the connection of a caller';

create or replace function pawl._exposure_found()
returns table (what text, level text, found text, cure text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return query select f.* from pawl._logging_found() f;
    return query select f.* from pawl._notify_found() f;
    return query select f.* from pawl._roles_found() f;
    -- Unknown where the engine's owner may not see the sessions of the caller's role; but a server without TLS encrypts nothing.
    return query
    select f.*
    from pawl._connection_found(inet_client_addr(), coalesce(
        (select t.ssl from pg_stat_ssl t where t.pid = pg_backend_pid()) or (select g.encrypted from pg_stat_gssapi g where g.pid = pg_backend_pid()),
        current_setting('ssl') = 'on')) f;
end
$$;
comment on function pawl._exposure_found() is 'ways by which payloads leave the database, or callers hold up others';
