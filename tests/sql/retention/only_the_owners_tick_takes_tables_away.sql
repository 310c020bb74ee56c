-- SPDX-License-Identifier: Apache-2.0
-- Retention empties a day first, which locks the tables of that day alone. To take a table away locks its parent against everybody, so that
-- is left to the owner's tick, which commits at once.
select plan(11);

set statement_timeout = '60s';
select t.stop_clock();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.step(:s, :'r', :f, 'one') \g /dev/null
select answer from pawl.complete(:s, :'r', :f) \g /dev/null
select answer from pawl.emit('x') \g /dev/null
select to_char(pawl._id_time(:'r') at time zone 'UTC', 'YYYYMMDD') as day \gset
select pawl.test_clock_advance('17 days') \g /dev/null
select t.session() as s \gset
update pawl_data.chore set due_at = 'infinity' where chore not in ('retention', 'tables');
update pawl_data.chore set due_at = '-infinity' where chore in ('retention', 'tables');
create function pg_temp.days() returns bigint language sql as $$
    select count(*) from pg_inherits i where i.inhparent in ('pawl_data.event'::regclass, 'pawl_data.run'::regclass, 'pawl_data.step'::regclass)
$$;
create function pg_temp.locked() returns text language sql as $$
    select string_agg(c.relname, ' ' order by c.relname) from pg_locks l join pg_class c on c.oid = l.relation and c.relkind in ('r', 'p')
    where l.pid = pg_backend_pid() and l.mode = 'AccessExclusiveLock'
$$;
select pg_temp.days() as before \gset

begin \; select count(*) as n from pawl.claim(:s, 1) \gset
select pawl.heartbeat(:s) \g /dev/null
select is(pg_temp.locked(), null, 'a claim and a heartbeat in a block lock no table');
commit;
begin;
select pawl.housekeep() \g /dev/null
select is(pg_temp.locked(), 'event_' || :'day', 'housekeep() locks the tables of a day that it empties, and no parent');
commit;
select is(pg_relation_size('pawl_data.event_' || :'day'), 0::bigint, 'events first');
select isnt(pg_relation_size('pawl_data.run_' || :'day'), 0::bigint, 'runs are there still');
-- Days go one by one, the day before this one first.
do $$ begin for i in 1..5 loop perform pawl.test_clock_advance('2 s'), pawl.housekeep(); end loop; end $$;
select is(pg_relation_size('pawl_data.run_' || :'day') + pg_relation_size('pawl_data.step_' || :'day'), 0::bigint, 'then runs with their steps');
select is(pg_temp.days(), :before::bigint, 'no table is gone');
select is((select count(*) from pawl.list_runs()), 0::bigint, 'the run is not found any more');

-- A role without the owner's rights.
select 'ticker_' || current_database() as ticker \gset
create role :ticker login;
select pawl.grant_role(:'ticker', 'worker') \g /dev/null
set role :ticker;
call pawl.tick(true);
reset role;
select is(pg_temp.days(), :before::bigint, 'a worker''s tick takes no table away');
select throws_ok(format('set local role %I; select pawl._tick_tables()', :'ticker'), '42501', null, 'and may not');
select throws_ok('call pawl.tick(true)', '2D000', null, 'a tick inside a transaction raises');
call pawl.tick(true);
call pawl.tick(true);
select is((select count(*) from pawl._past_partitions(pawl.now())), 0::bigint, 'the owner''s tick takes all of them away');
drop owned by :ticker;
drop role :ticker;

select * from finish();
