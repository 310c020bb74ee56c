-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', key => 'k') \gset
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it ends');
select t.later('13 days') \g /dev/null
select t.later('1 hour') from generate_series(1, 3) \g /dev/null
select is((select run_id from pawl.trigger('a.flow', key => 'k')), :'r'::uuid, 'thirteen days later it is the same run');
select is(t.state(:'r'), 'SUCCESS', 'which is in history');
select t.later('4 days') \g /dev/null
select t.later('1 hour') from generate_series(1, 30) \g /dev/null
select is((select created from pawl.trigger('a.flow', key => 'k')), true, 'when the run is gone the key is free');

select * from finish();
