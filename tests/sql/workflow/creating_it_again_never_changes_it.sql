-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select is(pawl.create_workflow('a.flow', priority => 7, max_attempts => 3), 'created', 'the first time');
select is(pawl.create_workflow('a.flow', priority => 7, max_attempts => 3), 'exists', 'the same again');
select is(pawl.create_workflow('a.flow'), 'differs', 'other options');
select is(pawl.create_workflow('a.flow', priority => 7, max_attempts => 3, runtime => 'c'), 'differs', 'a runtime');
select is(pawl.create_workflow('a.flow', priority => 7, max_attempts => 3, description => 'new words'), 'exists', 'a description is no option');
select is((select priority || ' ' || max_attempts from pawl_data.workflow), '7 3', 'nothing has changed');
select is((select count(*) from pawl_data.queue), 1::bigint, 'there is one queue of its name');

select * from finish();
