-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select pawl.housekeep() \g /dev/null
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('40 s') \gset
select is(pawl.why(:'r'), 'Queued: worker web-3 lost it when its lease expired 10 s ago. The next pawl.tick() of any worker reclaims it.', 'exactly');
select is(t.state(:'r'), 'QUEUED', 'and is shown as queued');
select * from finish();
