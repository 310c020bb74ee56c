-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select run_id as r2, fence as f2 from t.held(:s) \gset
select t.other_holds(format('select pawl.record_step(%L)', pawl.step_token(:s, :'r', :f, 'debit#1')));
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'r2', 'fence', :f2, 'kind', 'complete', 'payload', '1'))), 'busy ok', 'only the run whose step is open');
select t.other_done();
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'later it is taken');
select * from finish();
