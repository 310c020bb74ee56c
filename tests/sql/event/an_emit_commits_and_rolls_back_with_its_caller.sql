-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x')), 'ok', 'waits');
begin;
select is((select woken from pawl.emit('x')), 1, 'emitted in a transaction');
rollback;
select is(t.state(:'r'), 'PAUSED event', 'rolled back: the run waits as before');
select is((select count(*) from pawl_data.event), 0::bigint, 'and nothing is stored');
begin;
select is((select woken from pawl.emit('x')), 1, 'emitted again');
commit;
select is(t.state(:'r'), 'QUEUED', 'committed: the run goes on');
select * from finish();
