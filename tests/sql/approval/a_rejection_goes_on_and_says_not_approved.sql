-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'publish#1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'the run asks');
select is(pawl.reject(:'r', 'publish', why => 'not yet'), 'taken', 'somebody rejects');
select is((select record #>> '{steps,0,output,approved}' from t.one(:s)), 'false', 'the run sees it');
select is((select output ->> 'by' from pawl_data.step where run_id = :'r'), session_user::text, 'without a name it is the role that logged in');
select is((select who from pawl.history(:'r') where what = 'rejected'), session_user::text, 'in the history too');
select * from finish();
