-- SPDX-License-Identifier: Apache-2.0
select plan(5);
set synchronous_commit to off;
select is((select level || ' ' || cure from pawl.doctor() where what = 'synchronous_commit'),
    'error Set synchronous_commit to on for the roles of workers and producers.', 'commits that are not durable');
reset synchronous_commit;
set statement_timeout to '20s';
select matches((select found from pawl.doctor() where what = 'statement_timeout'), '20000 ms', 'a statement timeout');
reset statement_timeout;
update pawl_data.chore set last_error = '57014 cancelled' where chore = 'keys';
select is((select found from pawl.doctor() where what = 'chore keys'), 'the last round failed: 57014 cancelled', 'a chore that fails');
update pawl_data.chore set last_error = null;
update pg_index set indisvalid = false where indexrelid = 'pawl_data.task_ready_idx'::regclass;
select is((select found || '; ' || cure from pawl.doctor() where what = 'index'), 'index task_ready_idx is not valid; reindex index pawl_data.task_ready_idx', 'an index that is not valid');
update pg_index set indisvalid = true where indexrelid = 'pawl_data.task_ready_idx'::regclass;
do $$ begin execute format('drop table pawl_data.%I', pawl._partition_name('note', (pawl.now() at time zone 'UTC')::date + 1)); end $$;
select is((select count(*) from pawl.doctor() where what = 'partitions' and found like '%partition note\_%'), 1::bigint, 'a partition that is missing');
select * from finish();
