-- SPDX-License-Identifier: Apache-2.0
select plan(10);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select $j${ "b":1,"a" :2.50,   "a":3, "big":123456789012345678901234567890.1234567890123456789e+5,
  "u":"\u00e4ä☃\/", "n" : -0.0, "e":1E400 , "l":[ ] }$j$ as j \gset
select run_id as r from pawl.trigger('a.flow', :'j', metadata => :'j') \gset
select fence as f, input::text as i, metadata::text as m from t.one(:s) \gset
select is(:'i'::text, :'j'::text, 'the input');
select is(:'m'::text, :'j'::text, 'the metadata');
select is(t.answer(:s, :'r', :f, 'step', 'fast#1', :'j', null, 1), 'ok', 'a step, set-wise');
select is((select answer from pawl.step(:s, :'r', :f, 'slow', :'j')), 'ok', 'a step, one by one');
select is(t.answer(:s, :'r', :f, 'step_error', 'bad#1', :'j', null, 3), 'ok', 'an error');
select is(t.answer(:s, :'r', :f, 'release'), 'ok', 'given back');
select fence as f, record from t.one(:s) \gset
select is((select count(*) from json_array_elements(:'record'::json -> 'steps') x where coalesce(nullif((x -> 'output')::text, 'null'), (x -> 'error')::text) = :'j'), 3::bigint, 'the record of each');
select is(t.answer(:s, :'r', :f, 'complete', null, :'j'), 'ok', 'the output');
select is((select output::text from pawl.result(:'r')), :'j'::text, 'of the run');
select is((select input::text from pawl.get_run(:'r')), :'j'::text, 'and its input in history');

select * from finish();
