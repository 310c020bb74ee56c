-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select pawl.create_workflow('a.flow', runtime => 'python') \g /dev/null
select t.session(runtimes => '{c}') as c \gset
select t.session(runtimes => '{python}') as p \gset
select run_id as a from pawl.trigger('a.flow') \gset
select is_empty(format('select * from pawl.claim(%s)', :c), 'before');
select pawl.alter_workflow('a.flow', '{"runtime": "c"}') \g /dev/null
select is_empty(format('select * from pawl.claim(%s)', :p), 'the old runtime gets nothing more');
select is((select run_id from pawl.claim(:c)), :'a'::uuid, 'the new one gets what waits already');
select is((select handled from pawl.trigger('a.flow')), true, 'no producer notices');
select pawl.alter_workflow('a.flow', '{"runtime": null}') \g /dev/null
select isnt_empty(format('select * from pawl.claim(%s)', :p), 'and with none, everybody');

select * from finish();
