-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select pawl.create_workflow('test.flow') as c \gset
select run_id as r from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'k') \gset
select fence as f from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'fails');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'retried');
select is((select length(input #>> '{}') from t.one(:s)), 5000, 'its input is there');
select is((select run_id::text from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'k')), :'r', 'its key stands for it');
select * from finish();
