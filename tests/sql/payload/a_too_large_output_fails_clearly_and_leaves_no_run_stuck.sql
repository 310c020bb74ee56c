-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select to_json(repeat('x', 1048575)) as large \gset
select results_eq(format('select answer, reason from t.item(%s, %L, %s, ''step'', ''a#1'', %L, null, 1)', :s, :'r', :f, :'large'), $$values ('refused', 'payload has 1048577 bytes, the limit is 1048576')$$, 'a step');
select results_eq(format('select answer, reason from t.item(%s, %L, %s, ''complete'', null, %L)', :s, :'r', :f, :'large'), $$values ('refused', 'payload has 1048577 bytes, the limit is 1048576')$$, 'the end');
select is(t.state(:'r'), 'RUNNING', 'the worker has it still');
select is(t.answer(:s, :'r', :f, 'step_error', 'a#1', '{"code": "too_large"}', null, 1), 'ok', 'the step can be failed');
select is(t.answer(:s, :'r', :f, 'fail', null, '{"code": "too_large"}', '{"final": true}'), 'ok', 'and the run too');
select is((select error ->> 'code' from pawl.result(:'r')), 'too_large', 'with a clear error');

select * from finish();
