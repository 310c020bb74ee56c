-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.kill(array[:'r'::uuid])), 'ok', 'killed under its worker');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'retried');
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'lease_lost', 'the old claim is worth nothing');
select is((select answer from pawl.complete(:s, :'r', :f)), 'lease_lost', 'in no way');
select fence as f2 from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'lease_lost', 'not even when the same session holds the run again');
select is((select answer from pawl.step(:s, :'r', :f2, 'one')), 'ok', 'the new claim is');
select * from finish();
