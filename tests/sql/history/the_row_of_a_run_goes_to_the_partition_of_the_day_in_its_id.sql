-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select pawl.test_clock_set('2031-05-06 23:59:59.900+00') \g /dev/null
select pawl.heartbeat(:s) \g /dev/null
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select is((select tableoid::regclass::text from pawl_data.run where run_id = :'r'), 'pawl_data.run_20310506', 'although it ended the day after');
select is((select tableoid::regclass::text from pawl_data.step where run_id = :'r'), 'pawl_data.step_20310506', 'its steps too');
select ok(to_regclass('pawl_data.run_20310507') is null, 'which alone was made by the way, because nobody ticks');

select * from finish();
