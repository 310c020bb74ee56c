-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a plain step');
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}', true)), 'ok', 'fails');
select is(t.state(:'r'), 'ERROR', 'ended');
select is((select answer from t.item(:s, :'r', :f, 'step', 'rollback:one#1', '1')), 'lease_lost', 'nothing to undo');
select * from finish();
