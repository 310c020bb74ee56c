-- SPDX-License-Identifier: Apache-2.0
select plan(22);
create function t.doctor(what text) returns text language sql as $$ select string_agg(level || ': ' || found || ' -> ' || cure, ' | ') from pawl.doctor() d where d.what = doctor.what $$;
-- The server's log.
select is(t.doctor('log_statement'), null, 'no statement is logged');
select is(t.doctor('log_parameter_max_length'), null, 'so no parameter is either');
set log_statement to 'all';
select matches(t.doctor('log_statement'), '^warning: log_statement is all: .*payloads.* -> Set log_statement to mod or ddl', 'every statement is logged');
select matches(t.doctor('log_parameter_max_length'), '^warning: log_parameter_max_length is -1 and log_statement is all: ', 'with its parameters');
set log_parameter_max_length to 0;
select is(t.doctor('log_parameter_max_length'), null, 'without parameters');
set log_statement to 'mod';
select is(t.doctor('log_statement'), null, 'verbs are selects');
reset log_parameter_max_length;
set log_min_duration_statement to '100ms';
select matches(t.doctor('log_parameter_max_length'), '^warning: log_parameter_max_length is -1 and log_min_duration_statement is 100 ms: ', 'slow statements are logged with their parameters');
reset log_min_duration_statement;
set log_parameter_max_length_on_error to 100;
select matches(t.doctor('log_parameter_max_length_on_error'), '^warning: log_parameter_max_length_on_error is 100B?: ', 'so are statements that fail');
reset log_parameter_max_length_on_error;
-- Roles.
select 'dr_' || current_database() as r \gset
select :'r' || '_group' as g \gset
create role :"r" login;
create role :"g";
grant :"g" to :"r";
select is(t.doctor('role ' || :'r'), null, 'a role without rights here');
select pawl.grant_role(:'g', 'producer') \gset
select is(t.doctor('role ' || :'g'), null, 'a group cannot log in');
select is(t.doctor('role ' || :'r'), format('warning: role "%1$s" has no statement_timeout, no idle_in_transaction_session_timeout, no connection limit: one program can hold locks and connections that others wait for -> alter role %1$s set statement_timeout to ''60s''; alter role %1$s set idle_in_transaction_session_timeout to ''60s''; alter role %1$s connection limit 50; with the numbers that it needs', :'r'), 'a member of a granted group, without any limit');
alter role :"r" set statement_timeout to '60s';
select matches(t.doctor('role ' || :'r'), 'has no idle_in_transaction_session_timeout, no connection limit: ', 'a timeout of the role');
select format('alter database %I set idle_in_transaction_session_timeout to %L', current_database(), '1min') \gexec
select matches(t.doctor('role ' || :'r'), 'has no connection limit: ', 'a timeout of the database');
alter role :"r" connection limit 5;
select is(t.doctor('role ' || :'r'), null, 'with all of them');
alter role :"r" in database :"DBNAME" set statement_timeout to 0;
select matches(t.doctor('role ' || :'r'), 'has no statement_timeout: ', 'none for the role in this database');
set statement_timeout to '60s';
select matches(t.doctor('role ' || :'r'), 'has no statement_timeout: ', 'whatever the session that asks has');
reset statement_timeout;
select count(*) as n from pawl.revoke_role(:'g', 'producer') \gset
drop owned by :"g";
drop role :"r", :"g";
-- Notifications.
select is(t.doctor('notifications'), null, 'an empty queue');
create or replace function pawl._notify_usage_max() returns double precision language sql immutable as 'select -1.0::double precision';
select matches(t.doctor('notifications'), '^warning: the notification queue of the server is 0 % full: calls notify no worker', 'a queue that fills up');
select is(t.doctor('two-phase commit') is not null, current_setting('max_prepared_transactions') <> '0', 'two-phase commit where it is possible');
select count(*) as n from pawl.set_notify('off') \gset
select is(t.doctor('two-phase commit'), null, 'not if nothing notifies');
-- Connections.
select is((select string_agg(host(a), ' ') from unnest(array['127.0.0.1', '::1', '10.1.2.3', 'fd00::1', null]::inet[]) a, pawl._connection_found(a, false)), '10.1.2.3 fd00::1', 'a connection from another host without encryption');
select is((select count(*) from pawl._connection_found('10.1.2.3', true)), 0::bigint, 'not one with encryption');
select * from finish();
