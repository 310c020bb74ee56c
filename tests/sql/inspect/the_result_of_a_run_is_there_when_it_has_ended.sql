-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select count(*) from pawl.result(:'r')), 0::bigint, 'no row while it has not');
select is((select answer from pawl.complete(:s, :'r', :f, '{"out": 1}')), 'ok', 'ends');
select is((select status || ' ' || output from pawl.result(:'r')), 'SUCCESS {"out": 1}', 'then its output');
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}', true)), 'ok', 'another fails');
select is((select status || ' ' || (error ->> 'message') from pawl.result(:'r')), 'ERROR boom', 'then its error');
select throws_ok($$select * from pawl.result(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select * from finish();
