-- SPDX-License-Identifier: Apache-2.0
-- It is queued, although no housekeeping has seen yet that its time has come.
select plan(4);
select t.flow('test.flow', '[["one"]]') \g /dev/null
select t.session() as s \gset
select run_id as r from pawl.trigger('test.flow') \gset
select run_id, task, fence from t.one(:s) \gset
select answer from pawl.sleep(:s, :'run_id', :fence, 'nap', '10 s', :task) \g /dev/null
select is(t.state(:'r'), 'PAUSED sleep', 'it sleeps');
select is((select answer from pawl.fork(:'r')), 'ok', 'and can be forked');
select pawl.test_clock_advance('11 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'its time has come');
select is((select answer from pawl.fork(:'r')), 'refused', 'and it cannot');
select * from finish();
