-- SPDX-License-Identifier: Apache-2.0
-- Another transaction is making one of the partitions that are due, and stays open. The others are made; the mark that says that all are there
-- is not moved before they are.
select plan(5);
set statement_timeout = '20s';
select t.stop_clock();
update pawl_data.chore set due_at = 'infinity' where chore <> 'partitions';
select partitions_until as mark from pawl_data.setting \gset
select pawl.test_clock_advance('1 day') \g /dev/null
select to_char(pawl.now() at time zone 'UTC' + interval '7 days', 'YYYYMMDD') as day \gset
select t.other_holds('select pawl._make_partition(''note'', (pawl.now() at time zone ''UTC'')::date + 7)::text') \g /dev/null
update pawl_data.chore set due_at = '-infinity' where chore = 'partitions';
call pawl.tick(true);
select is((select string_agg(p.parent, ' ' order by p.parent) from pawl._partitions(pawl._run_tables() || 'event'::text) p where p.day = to_date(:'day', 'YYYYMMDD')), 'audit event input run step tag', 'all others are made');
select is((select partitions_until from pawl_data.setting), :'mark'::timestamptz, 'the mark stays');
select is((select last_error from pawl_data.chore where chore = 'partitions'), null, 'that is no failure');
select t.other_done() \g /dev/null
select pawl.test_clock_advance('10 s') \g /dev/null
call pawl.tick(true);
select is(to_regclass('pawl_data.note_' || :'day') is not null, true, 'ten seconds later it is made as well');
select is((select partitions_until from pawl_data.setting), :'mark'::timestamptz + interval '1 day', 'and the mark moves');
select * from finish();
