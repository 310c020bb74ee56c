-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.session(name => 'web-3') as s \gset
select t.run() as r \gset
select count(*) as n from pawl.claim(:s), pawl.release(:s, run_id, fence) \gset
select pawl.leave(:s) \gset
select pawl.test_clock_advance('5 min') \gset
select is(pawl.why(:'r'), 'It is queued, but no live worker handles test.flow; the last one, web-3, was seen 5 min ago; start one.', 'exactly');
select * from finish();
