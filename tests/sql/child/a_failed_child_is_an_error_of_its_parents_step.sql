-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'a child');
select run_id as k, fence as kf from t.one(:s) \gset
select is((select answer from pawl.fail(:s, :'k', :kf, '{"message": "boom"}', true)), 'ok', 'it fails');
select fence as f, record from t.one(:s) \gset
select is(:'record'::json #>> '{steps,0,state}', 'ERROR', 'the step of the parent is an error');
select is(:'record'::json #>> '{steps,0,error,code}', 'child_failed', 'of its own code');
select is(:'record'::json #>> '{steps,0,error,child}', :'k', 'that names the child');
select is(:'record'::json #>> '{steps,0,error,error,message}', 'boom', 'and carries its error');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'the parent may go on and end well');
select * from finish();
