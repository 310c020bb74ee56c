-- SPDX-License-Identifier: Apache-2.0
-- Also after a record, which sets the crashes of the task to zero, and after the run has ended.
select plan(4);
select t.session(lease => '5 s') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select crashes from pawl.get_run(:'r')), 0, 'a run that no worker has lost');
select pawl.test_clock_advance('6 s') \gset
select pawl.housekeep() \g /dev/null
select is((select crashes from pawl.get_run(:'r')), 1, 'a worker has lost it');
select t.session() as s \gset
select fence as f from t.one(:s) \gset
select answer from pawl.step(:s, :'r', :f, 'a', '1') \gset
select is((select crashes from pawl.get_run(:'r')), 1, 'and it has recorded a step since');
select answer from pawl.complete(:s, :'r', :f) \gset
select is((select status || ' ' || crashes from pawl.get_run(:'r')), 'SUCCESS 1', 'and has ended');
select * from finish();
