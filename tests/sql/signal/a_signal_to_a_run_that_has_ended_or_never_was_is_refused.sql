-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'the run ends');
select throws_ok(format('select pawl.signal(%L, %L)', :'r', 'go'), 'PW007', null, 'it has ended');
select throws_ok($$select pawl.signal(gen_random_uuid(), 'go')$$, 'PW001', null, 'it never was');
select throws_ok($$select pawl.signal(null, 'go')$$, 'PW001', null, 'no run at all');
select * from finish();
