-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.emit('paid', '{"n": 1}')), 'ok', 'the event comes first');
select t.later('1 day', :s);
select is((select answer || ' ' || (value ->> 'state') || ' ' || (value #>> '{output,n}') from pawl.wait_event(:s, :'r', :f, 'w', 'paid')),
    'ok SUCCESS 1', 'the wait takes it at once');
select is(t.state(:'r'), 'RUNNING', 'and the worker keeps the run');
-- On a topic that had events before the run was triggered.
select run_id as r, fence as f from t.held(:s) \gset
select t.later('1 s', :s);
select is((select answer from pawl.emit('paid', '{"n": 2}')), 'ok', 'another event');
select is((select answer || ' ' || (value ->> 'state') || ' ' || (value #>> '{output,n}') from pawl.wait_event(:s, :'r', :f, 'w', 'paid')),
    'ok SUCCESS 2', 'a run that was triggered between the two takes the second');
select * from finish();
