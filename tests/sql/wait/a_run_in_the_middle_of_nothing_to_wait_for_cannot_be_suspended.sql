-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer || ': ' || reason from t.item(:s, :'r', :f, 'suspend')), 'refused: the run waits for nothing', 'refused, or it would never go on');
select is(t.state(:'r'), 'RUNNING', 'the run stays with its worker');
select * from finish();
