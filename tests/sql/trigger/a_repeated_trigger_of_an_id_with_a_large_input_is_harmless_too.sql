-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select pawl.create_workflow('a.flow', run_timeout => '1 hour') \g /dev/null
select pawl.make_id() as id \gset
select pawl.trigger('a.flow', to_json(repeat('x', 5000)), id => :'id') \g /dev/null
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'id', :f, 'complete', null, '1'), 'ok', 'it ends');
select is((select created from pawl.trigger('a.flow', to_json(repeat('x', 5000)), id => :'id')), false, 'repeated');
select is((select length(input #>> '{}') from pawl.get_run(:'id')), 5000, 'its input is there');
select is((select count(*) from pawl_data.wait) + (select count(*) from pawl_data.task), 0::bigint, 'and nothing else');

select * from finish();
