-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'a child');
select child as k from pawl.list_waits(:'r') \gset
select is((select answer from pawl.cancel(array[:'k'::uuid])), 'ok', 'somebody cancels the child');
select is((select record #>> '{steps,0,error,code}' from t.one(:s)), 'child_cancelled', 'the parent is told');
select * from finish();
