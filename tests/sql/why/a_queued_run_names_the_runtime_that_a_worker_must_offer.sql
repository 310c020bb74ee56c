-- SPDX-License-Identifier: Apache-2.0
-- A worker of that name is there, and does not take it.
select plan(2);
select pawl.create_workflow('test.flow', 'python') \g /dev/null
select t.session('{test.flow}') as s \gset
select run_id as r from pawl.trigger('test.flow') \gset
select is(pawl.why(:'r'), 'Queued, but no worker has ever registered a handler for test.flow with runtime python. Start one.', 'none was seen');
select t.session('{test.flow}', name => 'py-1', runtimes => '{python}') as p \gset
select pawl.leave(:p) \g /dev/null
select is(pawl.why(:'r'), 'Queued, but the last worker for test.flow with runtime python, py-1, was last seen 0 s ago. Start one.', 'one has left');
select * from finish();
