-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'a', '1')), 'ok', 'a');
select is((select answer from pawl.step(:s, :'r', :f, 'a#1', '2')), 'already', 'is a#1');
select is((select answer from pawl.step(:s, :'r', :f, 'a#2', '2')), 'ok', 'and not a#2');

select * from finish();
