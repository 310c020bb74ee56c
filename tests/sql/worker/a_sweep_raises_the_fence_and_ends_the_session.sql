-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select t.session() as other \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.later('31 s', :other) \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'it can be claimed again');
select cmp_ok((select fence from pawl_data.task where run_id = :'r'), '>', :f, 'the fence has risen');
select throws_ok(format('select * from pawl.heartbeat(%s)', :s), 'PW005', null, 'the session has ended');
select is((select state || ' ' || ended_why from pawl.list_workers(true) where session = :s), 'ended lost', 'and is shown so');
select is((select state from pawl.list_workers() where session = :other), 'live', 'the other one lives on');
select is(t.audit(:'r'), 'lease_lost', 'the loss is in the audit');

select * from finish();
