-- SPDX-License-Identifier: Apache-2.0
-- No run of it is ever held above the limit: the limit is there as soon as the workflow is.
select plan(8);
select is(pawl.create_workflow('test.flow', key_limit => 1), 'created', 'created with a limit by key');
select is(pawl.create_workflow('test.flow', key_limit => 1), 'exists', 'twice');
select is(pawl.create_workflow('test.flow'), 'differs', 'without the limit it would be another one');
select is(pawl.create_workflow('test.flow', key_limit => 1, fair => true), 'differs', 'and so it would be if it were fair');
select is((select key_limit || ' ' || fair from pawl.list_workflows('test.flow')), '1 false', 'nothing has changed it');
select t.session() as s \gset
select pawl.trigger('test.flow', limit_key => 'acme') from generate_series(1, 3) \g /dev/null
select pawl.trigger('test.flow', limit_key => 'other') \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'one run of each key is held');
select is(pawl.create_workflow('fair.flow', fair => true), 'created', 'a fair one');
select is((select key_limit is null and fair from pawl.list_workflows('fair.flow')), true, 'without a limit');
select * from finish();
