-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'a child');
select run_id as k, fence as kf from t.one(:s) \gset
select answer from pawl.fail(:s, :'k', :kf, '{"message": "boom"}', true) \gset
select fence as f from t.one(:s) \gset
select answer from pawl.fail(:s, :'r', :f, '{"message": "it failed"}', true) \gset
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'it fails, and so does the run, which goes on in a second round');

select fence as f from t.one(:s) \gset
select json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend')) as items \gset
select is(t.answers(:s, :'items'), 'ok ok', 'that starts another child');
select child_id as k2 from pawl_data.wait where run_id = :'r' and kind = 'c' \gset
select is(t.answers(:s, :'items', each => true), 'already already', 'the reply was lost, the same again');
select is((
    select c.value ->> 'state' || ' ' || (c.value ->> 'child')
    from pawl.commit_each(:s, array[:'r'::uuid], array[:f], array['child'], array['kid#1'],
        options => array['{"workflow": "kid.flow"}']) c), 'PAUSED ' || :'k2', 'it waits for that child');

select * from finish();
