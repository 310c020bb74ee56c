-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select t.session() as other \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(pawl.leave(:s), 1, 'one is given back');
select is(t.state(:'r'), 'QUEUED', 'it waits again');
select is(t.audit(:'r'), '', 'nothing unusual');
select is((select execution || ' ' || suspect from t.one(:other)), '1 false', 'no attempt and no crash was counted');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'lease_lost', 'the one that left can write nothing');

select * from finish();
