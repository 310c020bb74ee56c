-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(pawl.approve(:'r', 'publish', 'ann'), 'stored', 'approved ahead');
select is((select value #>> '{output,by}' from t.item(:s, :'r', :f, 'approval', 'publish#1', null, '{}')), 'ann', 'taken when the run asks');
select is((select count(*) from pawl_data.signal), 0::bigint, 'and kept no longer');
select * from finish();
