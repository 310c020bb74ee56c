-- SPDX-License-Identifier: Apache-2.0
-- The clock goes ahead by more than a day, a run ends and is kept apart, and the clock is put right: its id is not free.
select plan(3);
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.now() as t0, pawl.make_id() as x \gset
select t.session(lease => '1 day') as s \gset
select pawl.trigger('test.flow', id => :'x') \g /dev/null
select fence as f from t.one(:s) \gset
select pawl.test_clock_set(:'t0'::timestamptz + interval '25 hours') \g /dev/null
select t.answer(:s, :'x', :f, 'complete', null, '1') \g /dev/null
select pawl.test_clock_set(:'t0'::timestamptz + interval '1 min') \g /dev/null
select is((select created from pawl.trigger('test.flow', id => :'x')), false, 'the same id is the same run');
begin isolation level repeatable read;
select is((select created from pawl.trigger('test.flow', id => :'x')), false, 'also above read committed');
commit;
select is(t.state(:'x'), 'SUCCESS', 'which has ended');
select * from finish();
