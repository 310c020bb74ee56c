-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'a/kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'child', 'name', 'b/kid#1', 'option', json_build_object('workflow', 'kid.flow')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok', 'two children');
create temporary table kid as select * from pawl.claim(:s, 10);
select is((select string_agg(answer, ' ') from (select array_agg(run_id) as r, array_agg(fence) as f from kid) k,
    lateral pawl.commit(:s, k.r, k.f, array['complete', 'complete'], payloads => array['1', '2']) c), 'ok ok', 'both end in one batch');
select is(t.state(:'r'), 'QUEUED', 'the parent goes on');
select is((select count(*) from pawl_data.step where run_id = :'r' and state = 's'), 2::bigint, 'with both outputs');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'and is claimed once');
select * from finish();
