-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is_empty(format('select * from pawl.result(%L)', :'r'), 'no row while it has not ended');
select is(t.answer(:s, :'r', :f, 'complete', null, '{"b":  1, "a": 2}'), 'ok', 'it ends');
select results_eq(format('select status, output::text, error::text from pawl.result(%L)', :'r'), $$values ('SUCCESS', '{"b":  1, "a": 2}', null::text)$$, 'then its output');
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'fail', null, '{"code":"x", "code":"y"}', '{"final": true}') \g /dev/null
select results_eq(format('select status, output::text, error::text from pawl.result(%L)', :'r'), $$values ('ERROR', null::text, '{"code":"x", "code":"y"}')$$, 'a failed run gives its own error');
select throws_ok('select * from pawl.result(pawl.make_id())', 'PW001', null, 'a run that never was');
select throws_ok('select * from pawl.result(null)', 'PW001', null, 'no run at all');

select * from finish();
