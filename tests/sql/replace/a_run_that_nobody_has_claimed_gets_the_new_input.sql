-- SPDX-License-Identifier: Apache-2.0
select plan(29);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as r, created as c from pawl.trigger('test.flow', '1', key => 'k', replace => true, metadata => '{"n": 1}', priority => 7) \gset
select is(:'c'::boolean, true, 'the first makes a run');
select results_eq($$select run_id, created from pawl.trigger('test.flow', '2', key => 'k', replace => true, metadata => '{"n": 2}', priority => 9)$$,
    format('values (%L::uuid, false)', :'r'), 'the second changes it');
select matches(pawl.why(:'r'), ' Until a worker claims it, a trigger with key "k", and debounce or replace, gives it another input\.$', 'why says so');
select is((select count(*) from pawl_data.task), 1::bigint, 'there is one run');
select results_eq(format('select input::text, metadata::text from pawl.claim(%s, 10)', :s), $$values ('2', '{"n": 2}')$$, 'a worker gets the last input and metadata');
select doesnt_match(pawl.why(:'r'), 'another input', 'why says no more of it');
select is((select priority from pawl.get_run(:'r')), 7, 'the rest is as it was');

-- Its key stands for the last input.
select results_eq($$select run_id, created from pawl.trigger('test.flow', '2', key => 'k')$$, format('values (%L::uuid, false)', :'r'),
    'a plain trigger with the last input finds the run');
select throws_ok($$select pawl.trigger('test.flow', '1', key => 'k')$$, 'PW004', null, 'with an earlier one it does not');

-- A delayed run keeps its time, a paused one its pause.
select run_id as d from pawl.trigger('test.flow', '1', key => 'd', replace => true, delay => '1 hour') \gset
select is((select created from pawl.trigger('test.flow', '2', key => 'd', replace => true)), false, 'a delayed run gets it');
select is(t.state(:'d'), 'PAUSED delay', 'and keeps its time');
select pawl.pause(array[:'d'::uuid]) \g /dev/null
select is((select created from pawl.trigger('test.flow', '3', key => 'd', replace => true)), false, 'a paused run gets it');
select is(t.state(:'d'), 'PAUSED operator', 'and stays paused');
select pawl.resume(array[:'d'::uuid]) \g /dev/null
select is(t.state(:'d'), 'PAUSED delay', 'as before the pause');
select t.later('1 hour', :s) \g /dev/null
select is((select input::text from pawl.claim(:s, 10) where run_id = :'d'), '3', 'it starts with the last input');

-- In a lane.
select t.limited('test.lane', 1) \g /dev/null
select run_id as l from pawl.trigger('test.lane', '1', key => 'l', replace => true, limit_key => 'x') \gset
select is((select created from pawl.trigger('test.lane', '2', key => 'l', replace => true, limit_key => 'x')), false, 'a run in a lane gets it');
select is(t.lane_faults(), 'none', 'the lane is right');
select is((select input::text from pawl.claim(:s, 10)), '2', 'a worker gets it from there');

-- Large inputs.
select run_id as b from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'c', replace => true) \gset
select is((select created from pawl.trigger('test.flow', '"small"', key => 'c', replace => true)), false, 'large, then small');
select is((select input::text from pawl.claim(:s, 10)), '"small"', 'the last one is executed');
select is((select count(*) from pawl_data.input where run_id = :'b'), 0::bigint, 'the large one is gone');
select run_id as b from pawl.trigger('test.flow', '"small"', key => 'b', replace => true) \gset
select is((select created from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'b', replace => true)), false, 'small, then large');
select is((select created from pawl.trigger('test.flow', to_json(repeat('y', 6000)), key => 'b', replace => true)), false, 'large, then large');
select is((select length(input::text) from pawl.claim(:s, 10)), 6002, 'the last one is executed');
select is((select count(*) from pawl_data.input where run_id = :'b'), 1::bigint, 'and no other is left');

-- Its time limits begin again.
select run_id as e from pawl.trigger('test.flow', '1', key => 'e', replace => true, expires => '1 min') \gset
select t.later('50 s', :s) \g /dev/null
select is((select created from pawl.trigger('test.flow', '2', key => 'e', replace => true, expires => '1 min')), false, 'a run with a time limit');
select t.later('50 s', :s) \g /dev/null
select is(t.state(:'e'), 'QUEUED', 'has it from the last trigger on');
select pawl.test_clock_advance('10 s') \g /dev/null
select is((select created from pawl.trigger('test.flow', '3', key => 'e', replace => true)), true, 'one that has expired is not replaced');
select t.later('0', :s) \g /dev/null
select is((select status || ' ' || (error ->> 'code') from pawl.result(:'e')), 'CANCELLED expired', 'it ends as it would');
select * from finish();
