-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', key => 'k') \gset
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it ends');
select is((select answer from pawl.purge(array[:'r'::uuid])), 'ok', 'it is purged');
select is((select created from pawl.trigger('a.flow', '{"other": 1}', key => 'k')), true, 'the key stands for nothing any more');

select * from finish();
