-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one', '1')), 'ok', 'a step');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'x')), 'ok', 'then it waits');
select is((select answer || ' ' || copied from pawl.fork(:'r', 'w')), 'ok 1', 'forked from the wait');
select is(t.state(:'r'), 'PAUSED event', 'the source waits on');
select is((select woken from pawl.emit('x')), 1, 'and is woken');
select is((select answer from pawl.fork(:'r', 'w')), 'refused', 'a queued run is not forked');
select * from finish();
