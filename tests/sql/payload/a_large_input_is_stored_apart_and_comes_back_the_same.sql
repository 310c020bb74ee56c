-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select '{"x": "' || repeat('ä☃', 50000) || '"}' as j \gset
select run_id as r from pawl.trigger('a.flow', :'j') \gset
select fence as f, md5(input::text) as i from t.one(:s) \gset
select is(:'i'::text, md5(:'j'), 'at the claim');
select is((select md5(input::text) from pawl.get_run(:'r')), md5(:'j'), 'by get_run');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it ends');
select is((select md5(input::text) from pawl.get_run(:'r')), md5(:'j'), 'in history');

select * from finish();
