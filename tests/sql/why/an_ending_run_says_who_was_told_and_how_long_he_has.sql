-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select pawl.test_clock_advance('10 s') \gset
select is(pawl.why(:'r'), 'It is ending: cancelled 10 s ago, worker web-3 has been told and has 20 s more to let go.', 'exactly');
select * from finish();
