-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select pawl.housekeep() \g /dev/null
select t.session(name => 'web-3') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('40 s') \gset
select is(pawl.why(:'r'), 'Queued: worker web-3 lost it when its lease expired 10 s ago, and no worker takes runs of test.flow now. Start one.', 'nobody else is there');
select is(t.state(:'r'), 'QUEUED', 'and is shown as queued');
select t.session(name => 'web-4') as other \gset
select is(pawl.why(:'r'), 'Queued: worker web-3 lost it when its lease expired 10 s ago. A live worker reclaims it within seconds.', 'somebody is');
select pawl.drain_worker(:other) \g /dev/null
select is(pawl.why(:'r'), 'Queued: worker web-3 lost it when its lease expired 10 s ago, and no worker takes runs of test.flow now. Start one.', 'who is to leave');
select * from finish();
