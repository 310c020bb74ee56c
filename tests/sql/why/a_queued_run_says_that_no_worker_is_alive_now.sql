-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.session(name => 'web-3') as s \gset
select t.run() as r \gset
select count(*) as n from pawl.claim(:s), pawl.release(:s, run_id, fence) \gset
select pawl.leave(:s) \gset
select pawl.test_clock_advance('5 min') \gset
select is(pawl.why(:'r'), 'Queued, but the last worker for test.flow, web-3, was last seen 5 min ago. Start one.', 'exactly');
select * from finish();
