-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('a.flow', runtime => 'python') \g /dev/null
select run_id as r from pawl.trigger('a.flow') \gset
select t.session(runtimes => '{c,exec}') as c \gset
select t.session(runtimes => '{c,python}') as p \gset
select t.session() as plain \gset
select is_empty(format('select * from pawl.claim(%s)', :c), 'not by one of another runtime');
select is_empty(format('select * from pawl.claim(%s)', :plain), 'nor by one that declares none');
select is((select run_id from pawl.claim(:p)), :'r'::uuid, 'by one that declares it');

select * from finish();
