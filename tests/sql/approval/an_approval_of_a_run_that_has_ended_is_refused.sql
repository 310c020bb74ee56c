-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'the run ends');
select throws_ok(format('select pawl.approve(%L, %L)', :'r', 'publish'), 'PW007', null, 'approve');
select throws_ok(format('select pawl.reject(%L, %L)', :'r', 'publish'), 'PW007', null, 'reject');
select throws_ok($$select pawl.approve(gen_random_uuid(), 'publish')$$, 'PW001', null, 'an unknown run');
select throws_ok(format('select pawl.approve(%L, %L)', :'r', 'Bad Name'), 'PW003', null, 'a bad name');
select * from finish();
