-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select event_id as e from pawl.emit('paid', '{"n": 1}') \gset
select t.later('1 s', :s);
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid')), 'ok', 'waits');
select is(t.state(:'r'), 'PAUSED event', 'what came before the run was triggered is not its event');
select * from finish();
