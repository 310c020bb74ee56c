-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('10 min') \g /dev/null
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'it is lost when the fence is raised, not when the clock passes');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'the end too');

select * from finish();
