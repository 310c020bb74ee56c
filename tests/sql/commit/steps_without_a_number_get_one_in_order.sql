-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'z#1', 'payload', '1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'm#1', 'payload', '1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1'))), 'ok ok ok', 'three steps');
select is((select array_agg(seq || name order by seq) from pawl_data.step where run_id = :'r'), '{1z#1,2m#1,3a#1}', 'numbered as they came');

select * from finish();
