-- SPDX-License-Identifier: Apache-2.0
-- Timers of tenant b are due, and a worker that is bound to tenant a keeps the statement open in which it claims.
select plan(3);
select pawl.create_workflow('test.flow') \g /dev/null

set statement_timeout = '20s';
select t.stop_clock();
select t.session(lease => '1 hour') as s \gset
select 'a_' || current_database() as a \gset
create role :a login;
select pawl.grant_role(:'a', 'worker', 'a') \g /dev/null
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[100]), tenant => 'b', delay => '10 s') \g /dev/null
select t.other_holds(format('select set_config(''role'', %L, false)', :'a')) \g /dev/null
select t.dblink_exec('other', 'commit') \g /dev/null
select session as e from t.dblink('other', 'select session from pawl.register(''evil'', ''{*}'', lease => ''1 hour'')') r (session bigint) \gset
select pawl.test_clock_advance('11 s') \g /dev/null
select t.dblink_send_query('other', format('select pg_sleep(600) from pawl.claim(%s, 1) right join (values (1)) v on true', :e)) \g /dev/null
create function pg_temp.sleeps() returns boolean language sql volatile as $$
    select exists (select from pg_stat_activity a where a.datname = current_database() and a.wait_event = 'PgSleep')
$$;
do $$ begin while not pg_temp.sleeps() loop perform pg_sleep(0.01), pg_stat_clear_snapshot(); end loop; end $$;

select pawl.housekeep() \g /dev/null
select is((select count(*) from pawl_data.task where place = 'r'), 100::bigint, 'others make them ready');
select is((select count(*) from pawl.claim(:s, 200)), 100::bigint, 'and claim them');
select is(pg_temp.sleeps(), true, 'while it sleeps');

select t.dblink_cancel_query('other') \g /dev/null
select t.dblink_disconnect('other') \g /dev/null
drop owned by :a;
drop role :a;
select * from finish();
