-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'kid#1', 'payload', '{"n": 3}', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'the parent starts a child and lets go');
select is(t.state(:'r'), 'PAUSED child', 'it holds nothing while the child works');
select run_id as k, fence as kf, input from t.one(:s) \gset
select is(:'input'::text, '{"n": 3}', 'the child has its input');
select is((select parent_id::text from pawl.get_run(:'k')), :'r', 'it knows its parent');
select is(pawl.slot_of(:'k'), pawl.slot_of(:'r'), 'it has the slot of its parent');
select is((select answer from pawl.complete(:s, :'k', :kf, '{"sum": 6}')), 'ok', 'the child ends');
select is(t.state(:'r'), 'QUEUED', 'the parent goes on');
select is((select record #>> '{steps,0,output,sum}' from t.one(:s)), '6', 'with the output of the child');
select is((select source_id::text from pawl_data.step where run_id = :'r'), :'k', 'the record names the child');
select * from finish();
