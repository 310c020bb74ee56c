-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as a \gset
select t.session() as b \gset
select run_id as r, fence as f from t.held(:a) \gset
select is(t.answer(:b, :'r', :f, 'step', 'x#1', '1', null, 1), 'lease_lost', 'the right fence of another session');
select is(t.answer(:b, :'r', :f, 'complete', null, '1'), 'lease_lost', 'nor end it');
select is((select answer from pawl.release(:b, :'r', :f)), 'lease_lost', 'nor give it back');
select is(t.state(:'r'), 'RUNNING', 'it is held as before');
select is(t.audit(:'r'), 'late_result late_result', 'the attempts are on record');

select * from finish();
