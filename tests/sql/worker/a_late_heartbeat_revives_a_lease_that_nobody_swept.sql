-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('10 min') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'the lease is over, so it is not shown as running');
select cmp_ok((select lease_until from pawl.heartbeat(:s)), '>', pawl.now(), 'a late heartbeat');
select is(t.state(:'r'), 'RUNNING', 'revives it');
select pawl.housekeep() \g /dev/null
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'and it can end the run');

select * from finish();
