-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select pawl.create_workflow('test.flow', run_timeout => '1 hour') as c \gset
select t.run() as r \gset
select t.later('2 hours', :s);
select is(t.state(:'r') || ' ' || (select error ->> 'code' from pawl.get_run(:'r')), 'ERROR timeout', 'the limit ended it');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'retried');
select t.later('59 min', :s);
select is(t.state(:'r'), 'QUEUED', 'the new round has time');
select t.later('2 min', :s);
select is(t.state(:'r'), 'ERROR', 'but not without end');
select * from finish();
