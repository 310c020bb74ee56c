-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select pawl.make_id() as id \gset
select is((select created from pawl.trigger('a.flow', key => 'k', id => :'id')), true, 'the first');
select is((select created from pawl.trigger('a.flow', key => 'k', id => :'id')), false, 'while it waits');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'id', :f, 'complete', null, '1'), 'ok', 'it ends');
select is((select created from pawl.trigger('a.flow', key => 'k', id => :'id')), false, 'after its end');
select is((select run_id from pawl.trigger('a.flow', key => 'k', id => pawl.make_id())), :'id'::uuid, 'the key goes before another id');
select is((select count(*) from pawl_data.task), 0::bigint, 'one run in all');

select * from finish();
