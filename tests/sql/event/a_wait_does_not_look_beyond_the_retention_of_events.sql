-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.emit('paid', '{"n": 1}')), 'ok', 'an event');
select pawl.test_clock_advance('6 days 23 hours') \gset
select is((select value ->> 'state' from pawl.wait_event(:s, :'r', :f, 'a', 'paid')), 'SUCCESS', 'after nearly seven days it is found');
select is((select answer from pawl.emit('late', '{"n": 1}')), 'ok', 'another');
select pawl.test_clock_advance('7 days 1 min') \gset
select is((select value ->> 'state' from pawl.wait_event(:s, :'r', :f, 'b', 'late')), 'PAUSED', 'after more than seven days it is not');
select * from finish();
