-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select t.run() as r \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'retried');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled again');
select is(t.state(:'r'), 'CANCELLED', 'cancelled');
select is((select round from pawl.get_run(:'r')), 2, 'in its second round');
select is((select count(*) from pawl.list_runs()), 1::bigint, 'the list has it once');
select * from finish();
