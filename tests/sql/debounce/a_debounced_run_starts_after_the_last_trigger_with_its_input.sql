-- SPDX-License-Identifier: Apache-2.0
select plan(27);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as r, created as c from pawl.trigger('test.flow', '1', key => 'k', debounce => '10 s', debounce_max => '25 s') \gset
select is(:'c'::boolean, true, 'the first makes a run');
select is(t.state(:'r'), 'PAUSED delay', 'which waits');
select matches(pawl.why(:'r'), '^Scheduled to start at .* \(in 10 s\)\. Until a worker claims it, a trigger with key "k", and debounce or replace, gives it another input; with debounce it then starts later\.$', 'why says so');
select t.later('9 s', :s) \g /dev/null
select results_eq($$select run_id, created from pawl.trigger('test.flow', '2', key => 'k', debounce => '10 s', debounce_max => '25 s')$$,
    format('values (%L::uuid, false)', :'r'), 'the second changes it');
select t.later('9 s', :s) \g /dev/null
select is(t.state(:'r'), 'PAUSED delay', 'it waits again');
select is((select created from pawl.trigger('test.flow', '3', key => 'k', debounce => '10 s', debounce_max => '25 s')), false, 'the third, too');
select t.later('6 s', :s) \g /dev/null
select is(t.state(:'r'), 'PAUSED delay', 'up to debounce_max');
select t.later('1 s', :s) \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'then it is due');
select is((select created from pawl.trigger('test.flow', '4', key => 'k', debounce => '10 s', debounce_max => '25 s')), false, 'a trigger that comes before a worker changes the input');
select is(t.state(:'r'), 'QUEUED', 'and not the time');
select is((select input::text from pawl.claim(:s, 10)), '4', 'a worker gets the last input');
select run_id as n, created as c from pawl.trigger('test.flow', '5', key => 'k', debounce => '10 s', debounce_max => '25 s') \gset
select is(:'c'::boolean, true, 'after that a new run is made');
select t.later('10 s', :s) \g /dev/null
select is(t.state(:'r'), 'RUNNING', 'the old run is still executed');
select is((select input::text from pawl.claim(:s, 10)), '5', 'and the new one starts');

-- A run that has become due and that no worker has claimed waits again.
select run_id as q from pawl.trigger('test.flow', '1', key => 'q', debounce => '10 s') \gset
select t.later('10 s', :s) \g /dev/null
select is(t.state(:'q'), 'QUEUED', 'due');
select is((select created from pawl.trigger('test.flow', '2', key => 'q', debounce => '10 s')), false, 'and triggered again');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'it waits');

-- In a lane, too.
select t.limited('test.lane', 1) \g /dev/null
select run_id as l from pawl.trigger('test.lane', '1', key => 'l', debounce => '10 s') \gset
select t.later('10 s', :s) \g /dev/null
select pawl.create_workflow('test.none') \g /dev/null
select run_id as l2 from pawl.trigger('test.lane', '0', key => 'm', replace => true) \gset
select is((select created from pawl.trigger('test.lane', '2', key => 'm', debounce => '1 min')), false, 'a run that is ready in a lane');
select is(t.state(:'l2'), 'PAUSED delay', 'leaves it');
select is(t.lane_faults(), 'none', 'and the lane is right');

-- A pause stays; after it the run starts at its time.
select run_id as p from pawl.trigger('test.flow', '1', key => 'p', debounce => '10 s') \gset
select pawl.pause(array[:'p'::uuid]) \g /dev/null
select is((select created from pawl.trigger('test.flow', '2', key => 'p', debounce => '1 hour')), false, 'a paused run');
select is(t.state(:'p'), 'PAUSED operator', 'stays paused');
select pawl.resume(array[:'p'::uuid]) \g /dev/null
select is(t.state(:'p'), 'PAUSED delay', 'and waits afterwards');
select t.later('50 min', :s) \g /dev/null
select is(t.state(:'p'), 'PAUSED delay', 'until the new time');

-- With replace a run that has begun is cancelled.
select run_id as a from pawl.trigger('test.flow', '1', key => 'a') \gset
select run_id from pawl.claim(:s, 10) where run_id = :'a' \g /dev/null
select is((select created from pawl.trigger('test.flow', '2', key => 'a', debounce => '10 s', replace => true)), true, 'with replace');
select t.later('1 s', :s) \g /dev/null
select is((select notice from pawl.heartbeat(:s) where run_id = :'a'), 'cancelled', 'a run that has begun is cancelled');

-- The time in which it must be claimed counts from when it is due.
select run_id as e from pawl.trigger('test.flow', '1', key => 'e', debounce => '10 s', expires => '5 s') \gset
select t.later('9 s', :s) \g /dev/null
select from pawl.trigger('test.flow', '2', key => 'e', debounce => '10 s', expires => '5 s') \g /dev/null
select t.later('14 s', :s) \g /dev/null
select is(t.state(:'e'), 'QUEUED', 'a time limit counts from the new time');
select * from finish();
