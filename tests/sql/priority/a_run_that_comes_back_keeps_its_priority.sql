-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as low from pawl.trigger('a.flow', priority => 500) \gset
select run_id as high from pawl.trigger('a.flow', priority => 1) \gset
select run_id as r, fence as f from t.one(:s) \gset
select is(:'r'::text, :'high'::text, 'the high one first');
select pawl.sleep(:s, :'high', :f, 'nap', '1 s') \g /dev/null
select t.later('1 min') \g /dev/null
select is((select run_id from t.one(:s)), :'high'::uuid, 'and first again when its sleep is over');

select * from finish();
