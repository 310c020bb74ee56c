-- SPDX-License-Identifier: Apache-2.0
-- A day is past its retention, and the worker of another tenant keeps the statement open in which it sends a heartbeat. A statement that
-- waits for it is cancelled after 20 s.
select plan(9);

set statement_timeout = '20s';
select t.session(lease => '1 hour') as s \gset
select pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date - 60) from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag']) t \g /dev/null
select t.run() from generate_series(1, 20) \g /dev/null
select run_id as r, fence as f from t.one(:s) \gset
select 'z_' || current_database() as z \gset
create role :z login;
select pawl.grant_role(:'z', 'worker', 'z') \g /dev/null
select t.other_holds(format('select set_config(''role'', %L, false)', :'z')) \g /dev/null
select t.dblink_exec('other', 'commit') \g /dev/null
select session as e from t.dblink('other', 'select session from pawl.register(''evil'', ''{*}'')') r (session bigint) \gset
update pawl_data.chore set due_at = case when chore = 'retention' then '-infinity' else 'infinity' end::timestamptz;
select setval('pawl_data.housekeeping_clock', 0) \g /dev/null
select t.dblink_send_query('other', format('select pg_sleep(600) from pawl.heartbeat(%s)', :e)) \g /dev/null
create function pg_temp.sleeps() returns boolean language sql volatile as $$
    select exists (select from pg_stat_activity a where a.datname = current_database() and a.wait_event = 'PgSleep')
$$;
do $$ begin while not pg_temp.sleeps() loop perform pg_sleep(0.01), pg_stat_clear_snapshot(); end loop; end $$;

select is((select count(*) from pg_locks l join pg_stat_activity a using (pid) where a.wait_event = 'PgSleep' and l.mode = 'AccessExclusiveLock' and l.locktype = 'relation'), 0::bigint, 'it holds no table');
select lives_ok(format('select answer from pawl.complete(%s, %L, %s)', :s, :'r', :f), 'others complete a run');
select lives_ok('select run_id from pawl.trigger(''test.flow'')', 'trigger one');
select lives_ok('select run_id from pawl.trigger(''test.flow'', id => pawl.make_id())', 'trigger one by its id');
select lives_ok(format('select run_id from pawl.claim(%s, 5)', :s), 'claim');
select lives_ok(format('select epoch from pawl.heartbeat(%s)', :s), 'send heartbeats');
select lives_ok('select run_id from pawl.list_runs()', 'list runs');
select lives_ok('select pawl.housekeep()', 'do housekeeping');
select is(pg_temp.sleeps(), true, 'all while it sleeps');

select t.dblink_cancel_query('other') \g /dev/null
select t.dblink_disconnect('other') \g /dev/null
drop owned by :z;
drop role :z;
select * from finish();
