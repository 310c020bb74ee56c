-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select pawl.test_clock_set('2030-01-01 12:00+00') \gset
select pawl.housekeep() \gset
select t.session(lease => '1 h', name => 'w') as s \gset
select pawl.create_workflow('test.flow', base => '1 min', jitter => 0) \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'event', 'a/w#1', null, '{"topic": "paid", "key": "42"}'), 'ok', 'a wait without an end');
select is(t.answer(:s, :'r', :f, 'sleep', 'b/nap#1', null, '{"ms": 7200000}'), 'ok', 'a sleep');
select is(t.answer(:s, :'r', :f, 'signal', 'c/go#1', null, '{"timeout_ms": 3600000}'), 'ok', 'a wait with an end');
select is(pawl.why(:'r'), 'Running on worker w (lease valid for 60 min). Also open: signal go (times out in 60 min); sleep b/nap#1 (2 h left); event paid, key "42".', 'while a worker executes it');
select is(t.answer(:s, :'r', :f, 'retry', 'd#1', '{"message": "no \"paper\"."}'), 'ok', 'a step failed');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the run waits');
select is(pawl.why(:'r'), 'Attempt 2 of 5 of step d#1 starts in 60 s. Last error: "no "paper".". Also open: signal go (times out in 60 min); sleep b/nap#1 (2 h left); event paid, key "42".', 'the first that can wake it comes first, those without an end last');
select is((select answer from pawl.pause(array[:'r']::uuid[], by => 'dora')), 'ok', 'paused');
select is(pawl.why(:'r') ~ '^Paused by dora at .*[.] Resume it with pawl.resume[(][)][.] Also open: retry of step d#1 in 60 s; signal go', true, 'as well when it is paused');
select run_id as r, fence as f from t.held(:s) \gset
select is((select string_agg(distinct t.answer(:s, :'r', :f, 'sleep', 'b' || n || '/nap#1', null, json_build_object('ms', n * 1000)), ' ') from generate_series(1, 30) n), 'ok', 'thirty sleeps');
select t.answer(:s, :'r', :f, 'suspend') as a \gset
select is(pawl.why(:'r') ~ '^Sleeping in b1/nap#1 until .* [(]1 s left[)]. Also open: sleep b2/nap#1 [(]2 s left[)]; .*; sleep b11/nap#1 [(]11 s left[)]; and more\.$', true, 'a long list is cut');
-- Of a flow each wait says of which step it is.
select t.flow('f.flow', '[["a"], ["b"], ["c"]]') \gset
select run_id as r from pawl.trigger('f.flow') \gset
select count(*) as n from pawl.claim(:s, 3) \gset
select answer from pawl.sleep(:s, :'r', 1, 'nap', '2 h', task => t.task_of(:'r', 'a')) \gset
select answer from pawl.wait_event(:s, :'r', 1, 'w', 'paid', task => t.task_of(:'r', 'b')) \gset
select answer from pawl.wait_signal(:s, :'r', 1, 'go', timeout => '1 h', task => t.task_of(:'r', 'c')) \gset
select is(pawl.why(:'r'), 'Step c (1 of 3 open tasks): waiting for signal go since 2030-01-01 12:00:00; times out in 60 min. Send it with pawl.signal(). Also open: step a: sleep nap#1 (2 h left); step b: event paid.', 'of a flow, too');
select * from finish();
