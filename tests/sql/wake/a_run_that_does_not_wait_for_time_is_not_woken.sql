-- SPDX-License-Identifier: Apache-2.0
select plan(21);
select t.stop_clock() \gset
select t.session(lease => '1 h') as s \gset
create function wake(run uuid) returns text language sql as $$
    select string_agg(concat_ws(': ', answer, reason), ', ') from pawl.wake(array[run])
$$;
select t.run() as r \gset
select is(wake(:'r'), 'already', 'a queued run');
select c.fence as f from t.one(:s) c \gset
select is(wake(:'r'), 'refused: a worker holds it', 'a run that a worker holds');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'paid', '42', timeout => '1 h')), 'ok', 'it waits');
select is(wake(:'r'), 'refused: it waits for event paid, key "42" (times out in 60 min), and a wake ends only a backoff, a delay or a sleep', 'a wait for an event');
select is((select count(*) from pawl_data.wait), 1::bigint, 'which stays open');
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_signal(:s, :'r', :f, 'go')), 'ok', 'another waits');
select is(wake(:'r'), 'refused: it waits for signal go, and a wake ends only a backoff, a delay or a sleep', 'a wait for a signal');
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'approval', 'ok#1') || ' ' || t.answer(:s, :'r', :f, 'suspend'), 'ok ok', 'another waits');
select is(wake(:'r') ~ '^refused: it waits for approval ok, ', true, 'a wait for an approval');
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'child', 'c#1', '{}', '{"workflow": "test.flow"}') || ' ' || t.answer(:s, :'r', :f, 'suspend'), 'ok ok', 'another waits');
select is(wake(:'r') ~ '^refused: it waits for child run [0-9a-f-]+, ', true, 'a wait for a child');
select count(*) as n from pawl.kill(array(select run_id from pawl_data.task where run_id <> :'r')) \gset
select pawl.kill(array[:'r']::uuid[]) \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 h')) || ' ' || (select answer from pawl.pause(array[:'r']::uuid[])), 'ok ok', 'one sleeps and is paused');
select is(wake(:'r'), 'refused: it is paused: resume it', 'a paused run');
select is((select answer from pawl.resume(array[:'r']::uuid[])) || ' ' || t.state(:'r'), 'ok PAUSED sleep', 'which sleeps on');
select t.later('2 h', :s) \gset
select is(wake(:'r'), 'already', 'one whose sleep has ended by itself');
select is((select answer from pawl.kill(array[:'r']::uuid[])) || ' ' || wake(:'r'), 'ok CANCELLED', 'one that has ended');
select is(wake(gen_random_uuid()), 'not_found', 'one that there is not');
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 h')), 'ok', 'another sleeps');
select is((select string_agg(concat_ws(': ', answer, reason), ', ') from pawl.wake(array[:'r']::uuid[], step => 'other')), 'refused: step "other" neither sleeps nor waits for its next attempt', 'another step than the one that is named');
select t.other_holds(format('select 1 from pawl_data.task where run_id = %L for update', :'r')) \gset
select is(wake(:'r'), 'busy', 'one that another transaction holds');
select t.other_done() \gset
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r', gen_random_uuid(), :'r']::uuid[])), 'ok not_found already', 'each id has its answer, in the order given');
select * from finish();
