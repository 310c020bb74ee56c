-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', null, null, 1), 'ok', 'a step');
select is(t.answer(:s, :'r', :f, 'complete'), 'ok', 'the end');
select is((select output::text from pawl.result(:'r')), 'null', 'the output is null, as JSON');

select * from finish();
