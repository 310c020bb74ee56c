-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select pawl.test_clock_advance('10 s') \gset
select is(pawl.why(:'r'), 'Ending: cancelled 10 s ago. Worker web-3 has been notified and has 20 s left to release it.', 'exactly');
select * from finish();
