-- SPDX-License-Identifier: Apache-2.0
select plan(18);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select run_id as r from pawl.trigger('test.flow', key => 'k', expires => '1 min') \gset
select is(t.state(:'r'), 'QUEUED', 'it can be claimed');
select matches(pawl.why(:'r'), ' It expires in 60 s if no worker claims it\.$', 'why says until when');
select t.later('59 s') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'still');
select pawl.test_clock_advance('1 s') \g /dev/null
select matches(pawl.why(:'r'), ' It has expired: the next pawl\.tick\(\) ends it\.$', 'why says when it is over');
select t.later('0') \g /dev/null
select results_eq(format('select status, error ->> ''code'', error ->> ''message'' from pawl.result(%L)', :'r'),
    $$values ('CANCELLED', 'expired', 'no worker claimed the run in time')$$, 'its error says so');
select matches(pawl.why(:'r'), '^Ended CANCELLED 0 s ago: no worker claimed the run in time\. Retry it with pawl\.retry\(\)\.$', 'and why');
select is((select who from pawl.history(:'r') where what = 'ended' or what = 'cancelled' limit 1), 'pawl', 'the engine ended it');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no limit is left');
select is((select created from pawl.trigger('test.flow', key => 'k')), false, 'its key still stands for it');

-- A paused run, and one of a paused workflow, expire too.
select run_id as p from pawl.trigger('test.flow', expires => '1 min') \gset
select pawl.pause(array[:'p'::uuid]) \g /dev/null
select t.later('61 s') \g /dev/null
select is(t.state(:'p'), 'CANCELLED', 'a pause does not stop the time');

-- The engine does not retry; a person may, and the next round does not expire.
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'it can be retried');
select t.later('10 min') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'its next round does not expire');
select t.session() as s \gset
select is((select run_id from t.one(:s)), :'r'::uuid, 'a worker gets it');

-- A key that holds while the run is active is free again.
select run_id as a from pawl.trigger('test.flow', key => 'a', key_while_active => true, expires => '1 min') \gset
select t.later('61 s', :s) \g /dev/null
select is((select created from pawl.trigger('test.flow', key => 'a', key_while_active => true)), true, 'its key is free');

-- A run that waits for it is told.
select run_id as parent, fence as f from t.one(:s) \gset
select pawl.create_workflow('test.child') \g /dev/null
select pawl.alter_workflow('test.child', '{"expires": "1 min"}') \g /dev/null
select is(t.answer(:s, :'parent', :f, 'child', 'c#1', null, '{"workflow": "test.child"}'), 'ok', 'a child, whose workflow says how long');
select is(t.answer(:s, :'parent', :f, 'suspend'), 'ok', 'its parent waits');
select t.later('61 s', :s) \g /dev/null
select is(t.state(:'parent'), 'QUEUED', 'the child has expired');
select is((select c.record #>> '{steps,0,error,code}' from pawl.claim(:s, 1) c), 'child_cancelled', 'and its parent learns that');
select * from finish();
