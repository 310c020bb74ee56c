-- SPDX-License-Identifier: Apache-2.0
-- Only raise_epoch waits for such a transaction.
select plan(5);
set lock_timeout = '5s';
select 'sk_' || current_database() as role \gset
create role :"role" login;
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.step_token(:s, :'r', :f, 'a#1') as token \gset
select t.dblink_connect('other', format('host=%s port=%s user=%s dbname=%L', split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database())) \g /dev/null
select t.dblink_exec('other', 'begin isolation level repeatable read') \g /dev/null
select is((select a from t.dblink('other', format('select pawl.record_step(%L)', :'token')) d (a text)), 'ok', 'a step is recorded in an open transaction');
select lives_ok($$select pawl.set_retention('30 days')$$, 'a setting can be changed');
select lives_ok($$select pawl.set_session_limit(50)$$, 'another one');
select lives_ok(format('select pawl.grant_role(%L, %L, %L)', :'role', 'reader', 'acme'), 'a role can be granted');
select throws_ok($$select pawl.raise_epoch('test')$$, '55P03', null, 'the epoch cannot be raised before it ends');
select t.other_done() \g /dev/null
select pawl.revoke_role(:'role', 'reader') \g /dev/null
select * from finish();
drop role :"role";
