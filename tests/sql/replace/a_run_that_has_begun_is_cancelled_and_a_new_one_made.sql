-- SPDX-License-Identifier: Apache-2.0
select plan(19);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as r from pawl.trigger('test.flow', '1', key => 'k', replace => true) \gset
select fence as f from t.one(:s) \gset
select run_id as n, created as c from pawl.trigger('test.flow', '2', key => 'k', replace => true) \gset
select is(:'c'::boolean and :'n' <> :'r', true, 'a new run is made');
select is((select run_id from pawl_data.key where key = 'k'), :'n'::uuid, 'the key stands for it');
select t.later('0.1 s', :s) \g /dev/null
select is((select notice from pawl.heartbeat(:s) where run_id = :'r'), 'cancelled', 'the worker of the old one is told');
select matches(pawl.why(:'r'), '^Ending: cancelled', 'which is ending');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'cancelled', 'it ends');
select results_eq(format('select status, error ->> ''message'' from pawl.result(%L)', :'r'),
    $$values ('CANCELLED', 'a trigger with its key has replaced it')$$, 'and says why');
select is((select run_id from t.one(:s)), :'n'::uuid, 'a worker gets the new one');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'refused', 'the old one is not retried while the new one has the key');

-- One that has begun and waits ends at once.
select run_id as w from pawl.trigger('test.flow', '1', key => 'w', replace => true) \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'w', :f, 'sleep', 'nap#1', null, '{"ms": 600000}'), t.answer(:s, :'w', :f, 'suspend') \g /dev/null
select is((select created from pawl.trigger('test.flow', '2', key => 'w', replace => true)), true, 'one that sleeps');
select t.later('0.1 s', :s) \g /dev/null
select is(t.state(:'w'), 'CANCELLED', 'is cancelled');

-- One that has ended stays as it is.
select run_id as e, fence as f from t.one(:s) \gset
select t.answer(:s, :'e', :f, 'complete', null, '1') \g /dev/null
select is((select created from pawl.trigger('test.flow', '3', key => 'w', replace => true)), true, 'one that has ended');
select t.later('0.1 s', :s) \g /dev/null
select is(t.state(:'e'), 'SUCCESS', 'stays as it was');

-- A flow has made its first tasks of its input, so it is cancelled, too.
select t.flow('f', '[["a"]]') \g /dev/null
select run_id as f1 from pawl.trigger('f', '1', key => 'k', replace => true) \gset
select is((select created from pawl.trigger('f', '2', key => 'k', replace => true)), true, 'of a flow a new run is made');
select t.later('0.1 s', :s) \g /dev/null
select is(t.state(:'f1'), 'CANCELLED', 'and the old one cancelled');

-- A transaction that holds the run is not waited for.
select run_id as h from pawl.trigger('test.flow', '1', key => 'h', replace => true) \gset
select t.other_holds(format('select run_id::text from pawl_data.task where run_id = %L for update', :'h'));
select is((select created from pawl.trigger('test.flow', '2', key => 'h', replace => true)), true, 'a run that another transaction holds');
select t.other_done();
select t.later('0.1 s', :s) \g /dev/null
select is(t.state(:'h'), 'CANCELLED', 'is cancelled a moment later');
select is((select count(*) from pawl_data.wait where name = 'cancel'), 0::bigint, 'nothing is left to do');

-- One that ends while the trigger is still in its transaction, and is retried, is not cancelled in its next round.
select run_id as o from pawl.trigger('test.flow', '1', key => 'o', replace => true) \gset
select fence as f from pawl.claim(:s, 10) where run_id = :'o' \gset
select t.other_holds($$select run_id::text from pawl.trigger('test.flow', '2', key => 'o', replace => true)$$) \g /dev/null
select t.answer(:s, :'o', :f, 'fail', null, '"broken"', '{"final": true}') \g /dev/null
select t.dblink_exec('other', 'commit'), t.dblink_disconnect('other') \g /dev/null
select answer from pawl.kill(array(select k.run_id from pawl_data.key k where k.key = 'o')) \g /dev/null
select is((select answer from pawl.retry(array[:'o'::uuid])), 'ok', 'one that has ended before that may be retried');
select t.later('0.1 s', :s) \g /dev/null
select is(t.state(:'o'), 'QUEUED', 'and is not cancelled then');
select * from finish();
