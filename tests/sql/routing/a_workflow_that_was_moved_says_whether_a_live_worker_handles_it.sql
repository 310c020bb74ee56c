-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select pawl.create_workflow('a.flow', runtime => 'python') \g /dev/null
select t.session(runtimes => '{python}') as p \gset
select is((select handled from pawl.trigger('a.flow')), true, 'before');
select pawl.alter_workflow('a.flow', '{"runtime": "c"}') \g /dev/null
select pawl.heartbeat(:p) \g /dev/null
select is((select handled from pawl.trigger('a.flow')), false, 'after the worker has heard of it');

select * from finish();
