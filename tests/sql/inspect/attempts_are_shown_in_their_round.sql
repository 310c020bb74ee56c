-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'retry', 'left/a#1', '{"message": "once"}', '{"policy": {"base_ms": 0, "jitter": 0}}', 1) as a1 \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step_error', 'left/a#1', '{"message": "no more"}', null, 2) as a2 \gset
select answer as a3 from pawl.fail(:s, :'r', :f, '{"message": "no more"}', final => true) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select answer as a4 from pawl.retry(array[:'r'::uuid]) \gset
select fence as f from t.one(:s) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'retry', 'left/a#1', '{"message": "twice"}', '{"policy": {"base_ms": 0, "jitter": 0}}', 1) as a5 \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'left/a#1', '1', null, 2) as a6 \gset
create temporary table shown as select e from pawl.get_run(:'r') g, json_array_elements(g.steps) e;
select is((select string_agg(e ->> 'round' || ' ' || (e #>> '{failed_attempts,0,error,message}'), ', ' order by e ->> 'round') from shown), '1 once, 2 twice', 'each record has the attempts of its round');
select is((select max(json_array_length(e -> 'failed_attempts')) from shown), 1, 'and no others');
select is((select string_agg(distinct e ->> 'branch', ' ') from shown), 'left', 'with its branch');
select * from finish();
