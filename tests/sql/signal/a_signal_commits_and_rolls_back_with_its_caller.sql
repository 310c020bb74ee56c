-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_signal(:s, :'r', :f, 'go')), 'ok', 'waits');
begin;
select is(pawl.signal(:'r', 'go', '{}'), 'taken', 'sent');
rollback;
select is(t.state(:'r'), 'PAUSED signal', 'rolled back: it waits as before');
begin;
select is(pawl.signal(:'r', 'go', '{}'), 'taken', 'sent again');
commit;
select is(t.state(:'r'), 'QUEUED', 'committed: it goes on');
select * from finish();
