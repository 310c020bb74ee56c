-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'publish#1', 'option', json_build_object('form', json_build_object('question', 'publish?'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'the run asks');
select is(t.state(:'r'), 'PAUSED signal', 'and waits');
select is((select kind || ' ' || topic || ' ' || (form ->> 'question') from pawl.list_waits(only_approvals => true)), 'approval publish publish?', 'the pending approval is listed with its form');
select is(pawl.approve(:'r', 'publish', 'ann', 'looks good', '{"pages": 3}'), 'taken', 'ann approves');
select is((select count(*) from pawl.list_waits(only_approvals => true)), 0::bigint, 'nothing is pending');
select is((select record #>> '{steps,0,output,by}' from t.one(:s)), 'ann', 'the step says who');
select is((select output::text from pawl_data.step where run_id = :'r'), '{"approved" : true, "by" : "ann", "why" : "looks good", "payload" : {"pages": 3}}', 'and why, and what she filled in');
select is((select what || ' ' || who || ' ' || (detail ->> 'why') from pawl.history(:'r') where what = 'approved'), 'approved ann looks good', 'so does the history');
select * from finish();
