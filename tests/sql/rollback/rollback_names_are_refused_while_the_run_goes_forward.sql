-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer || ': ' || reason from pawl.step(:s, :'r', :f, 'rollback:one')), 'refused: the run is not rolling back', 'refused');
select * from finish();
