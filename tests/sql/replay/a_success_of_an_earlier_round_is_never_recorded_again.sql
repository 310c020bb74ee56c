-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'step', 'a#1', '"first"', null, 1), t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}') \g /dev/null
select pawl.retry(array[:'r'::uuid]) \g /dev/null
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '"second"', null, 1), 'already', 'the next round sends it again');
select is((select string_agg(output #>> '{}', ' ') from pawl_data.step where run_id = :'r'), 'first', 'the first record stays the only one');

select * from finish();
