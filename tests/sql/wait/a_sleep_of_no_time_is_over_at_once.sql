-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '0')), 'ok', 'taken');
select is(t.state(:'r'), 'QUEUED', 'the run can be claimed at once');
select is((select record #>> '{steps,0,state}' from t.one(:s)), 'SUCCESS', 'and finds the sleep over');
select run_id as r2, fence as f2 from t.held(:s, 'other.flow') \gset
select is((select answer from pawl.sleep(:s, :'r2', :f2, 'nap', '-1 day')), 'ok', 'a negative time is no time');
select is(t.state(:'r2'), 'QUEUED', 'and is over at once');
select * from finish();
