-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 2147483647), 'refused', 'the greatest that can be written');
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 100000), 'ok', 'the greatest there is');
select lives_ok(format('select * from pawl.history(%L)', :'r'), 'the trail can be read');
select lives_ok(format('select * from pawl.get_run(%L)', :'r'), 'the run can be read');
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'c#1', 'payload', '1', 'millis', -1000)), true), 'refused', 'a step after it has no number left');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'but the run ends');

select * from finish();
