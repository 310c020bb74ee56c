-- SPDX-License-Identifier: Apache-2.0
-- Its worker was lost after the cancel, and its parent could not be locked: it waits for the end of its grace period, not for its sleep.
select plan(6);
select t.stop_clock() \gset
select t.session(lease => '5 s') as s \gset
select t.session(lease => '1 h') as s2 \gset
select run_id as p, fence as f from t.held(:s2) \gset
select is(t.answer(:s2, :'p', :f, 'child', 'c#1', '{}', '{"workflow": "test.flow"}'), 'ok', 'a child');
select c.run_id as c, c.fence as cf from t.one(:s) c \gset
select is(t.answer(:s, :'c', :cf, 'sleep', 'b/nap#1', null, '{"ms": 3600000}'), 'ok', 'a branch of it sleeps, another works');
select is((select answer from pawl.cancel(array[:'c']::uuid[])), 'ok', 'it is cancelled');
select t.other_holds(format('select 1 from pawl_data.task where run_id = %L for update', :'p')) \gset
select t.later('6 s', :s2) \gset
select is((select t.place::text || ' ' || t.due_at::text from pawl_data.task t where t.run_id = :'c'), 'w infinity', 'its worker is lost, and its parent is locked');
select is((select concat_ws(': ', answer, reason) from pawl.wake(array[:'c']::uuid[])), 'refused: it is ending', 'it is not woken');
select is((select t.place::text || ' ' || t.due_at::text from pawl_data.task t where t.run_id = :'c'), 'w infinity', 'and nobody can claim it');
select t.other_done() \gset
select * from finish();
