-- SPDX-License-Identifier: Apache-2.0
-- The default of psycopg and of many pools: a begin goes before the heartbeat, and the transaction stays open while the handler executes.
-- A day is past its retention at that moment. A statement that waits for it is cancelled after 20 s.
select plan(7);

set statement_timeout = '20s';
select t.session(lease => '1 hour') as s \gset
select pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date - 60) from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag']) t \g /dev/null
select t.run() from generate_series(1, 20) \g /dev/null
select run_id as r, fence as f from t.one(:s) \gset
select session as e from pawl.register('python', '{*}') \gset
update pawl_data.chore set due_at = case when chore = 'retention' then '-infinity' else 'infinity' end::timestamptz;
select setval('pawl_data.housekeeping_clock', 0) \g /dev/null
select t.other_holds('select ''x''') \g /dev/null
select t.dblink_exec('other', 'commit') \g /dev/null
select t.dblink_send_query('other', format('begin; select count(*) from pawl.heartbeat(%s)', :e)) \g /dev/null
create function pg_temp.is_open() returns boolean language sql volatile as $$
    select exists (select from pg_stat_activity a where a.datname = current_database() and a.state = 'idle in transaction' and a.query like '%pawl.heartbeat%')
$$;
do $$ begin while not pg_temp.is_open() loop perform pg_sleep(0.01), pg_stat_clear_snapshot(); end loop; end $$;

select is((select count(*) from pg_locks l join pg_stat_activity a using (pid) where a.state = 'idle in transaction' and l.mode = 'AccessExclusiveLock' and l.locktype = 'relation'), 0::bigint, 'it holds no table');
select lives_ok(format('select answer from pawl.complete(%s, %L, %s)', :s, :'r', :f), 'others complete a run');
select lives_ok('select run_id from pawl.trigger(''test.flow'', id => pawl.make_id())', 'trigger one by its id');
select lives_ok(format('select run_id from pawl.claim(%s, 5)', :s), 'claim');
select lives_ok('select run_id from pawl.list_runs()', 'list runs');
select lives_ok('select pawl.housekeep()', 'do housekeeping');
select is(pg_temp.is_open(), true, 'all while the transaction is open');

select t.dblink_disconnect('other') \g /dev/null
select * from finish();
