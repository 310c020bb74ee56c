-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'a child');
select run_id as k, fence as kf from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'k', :kf, '{}', true)), 'ok', 'it fails');
select is((select answer from pawl.retry(array[:'k'::uuid])), 'ok', 'it is retried');
create temporary table held as select * from pawl.claim(:s, 10);
select is((select answer from held h, lateral pawl.complete(:s, h.run_id, h.fence, '1') where h.run_id = :'k'), 'ok', 'and succeeds');
select is((select record #>> '{steps,0,state}' from held where run_id = :'r'), 'ERROR', 'the parent has seen the failure');
select is((select count(*) from pawl_data.step where run_id = :'r'), 1::bigint, 'and is told nothing else');
select * from finish();
