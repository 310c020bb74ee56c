-- SPDX-License-Identifier: Apache-2.0
-- A claim may be the first statement of a transaction block, which cannot always be told. The locks of a drop would last until its end.
select plan(4);

set statement_timeout = '60s';
select t.stop_clock();
select t.run() \g /dev/null
select pawl.test_clock_advance('17 days') \g /dev/null
select t.session() as s \gset
select pawl._make_partitions(pawl.now()) \g /dev/null
update pawl.chore set due_at = 'infinity' where chore <> 'retention';
update pawl.chore set due_at = '-infinity' where chore = 'retention';
create function days() returns bigint language sql as $$
    select count(*) from pg_inherits i where i.inhparent in ('pawl.event'::regclass, 'pawl.run'::regclass)
$$;
select days() as before \gset
select setval('pawl.housekeeping_clock', 0) \g /dev/null
begin \; select count(*) as n from pawl.claim(:s, 1) \gset
select is((select count(*) from pg_locks l where l.pid = pg_backend_pid() and l.mode = 'AccessExclusiveLock'), 0::bigint, 'a claim in a block locks no table');
commit;
select is(days(), :before::bigint, 'and drops none');
begin;
select pg_sleep(0.02) \g /dev/null
select pawl.heartbeat(:s) \g /dev/null
select is(days(), :before::bigint, 'nor does a heartbeat in a block');
commit;
-- Not the first to see the clock of housekeeping.
select pawl.claim(:s, 1) \g /dev/null
select pawl.heartbeat(:s) \g /dev/null
select cmp_ok(days(), '<', :before::bigint, 'a heartbeat of its own does');

select * from finish();
