-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session(lease => '5 s') as s \gset
select t.session(lease => '1 hour') as s2 \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select t.later('20 s', :s2);
select t.later('1 s', :s2);
select is(t.state(:'r'), 'CANCELLED', 'the sweep ends it before the grace');
select is((select answer from pawl.complete(:s, :'r', :f, '1')), 'cancelled', 'the late worker is told');
select * from finish();
