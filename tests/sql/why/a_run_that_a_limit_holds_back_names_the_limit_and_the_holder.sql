-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.limited('test.flow', 2) \g /dev/null
select t.session(name => 'web-3') as s \gset
select count(*) from generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'acme') \gset
select pawl.test_clock_advance('1 ms') \gset
select run_id as r from pawl.trigger('test.flow', limit_key => 'acme') \gset
select run_id as o from pawl.trigger('test.flow') \gset
select is(pawl.why(:'r'), 'Queued for 0 s: 3 tasks are ahead of it with limit key "acme" in queue test.flow. Live workers handle the queue.', 'while there is room');
select is((select count(*) from pawl.claim(:s, 2) where run_id <> :'o') > 0, true, 'some are claimed');
select count(*) from pawl.claim(:s, 10) \gset
select t.later('90 s', :s) \g /dev/null
update pawl_data.worker set lease_until = pawl.now() + interval '30 s';
select is(pawl.why(:'r'), 'Queued for 90 s: 1 task is ahead of it with limit key "acme", and 2 of 2 are held (key_limit of workflow test.flow); the oldest is held by web-3 for 90 s.', 'the limit and the holder');
select is((select status || ' ' || reason from pawl.list_runs() where run_id = :'r'), 'QUEUED limit', 'in a list one word');
select is((select reason from pawl.list_runs() where run_id = :'o'), null, 'no other run has it');
select pawl.pause_lane('test.flow', 'acme') \g /dev/null
select is((select status || ' ' || reason from pawl.list_runs() where run_id = :'r'), 'QUEUED paused', 'nor while its key is paused');
select pawl.resume_lane('test.flow', 'acme') \g /dev/null
select count(*) from generate_series(1, 2) i, lateral pawl.trigger('test.flow', to_json(i)) \gset
select count(*) from pawl.claim(:s, 10) \gset
select pawl.test_clock_advance('1 ms') \gset
select run_id as n from pawl.trigger('test.flow') \gset
select alike(pawl.why(:'n'), 'Queued for 0 s: 1 task is ahead of it without a limit key, and 2 of 2 are held (key_limit of workflow test.flow); %', 'runs without a key');
select pawl.pause_workflow('test.flow') \g /dev/null
select alike(pawl.why(:'n'), 'Queued, but % paused workflow test.flow at %', 'a pause comes first');
select * from finish();
