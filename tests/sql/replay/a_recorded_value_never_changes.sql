-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '"first"', null, 1), 'ok', 'recorded');
select is((select value ->> 'output' from t.item(:s, :'r', :f, 'step_error', 'a#1', '{"code": "x"}', '{}', 1)), 'first', 'not by an error');
select is((select value ->> 'output' from t.item(:s, :'r', :f, 'retry', 'a#1', '{"code": "x"}', '{}', 1)), 'first', 'not by a failed try');
select is((select value ->> 'output' from t.item(:s, :'r', :f, 'begin', 'a#1', null, '{"undo": {"handler": "h"}}', 1)), 'first', 'not by a start');
select is((select value ->> 'output' from pawl.step(:s, :'r', :f, 'a', '"second"')), 'first', 'not by another value');
select is((select output #>> '{}' from pawl_data.step where run_id = :'r'), 'first', 'one row, the first value');

select * from finish();
