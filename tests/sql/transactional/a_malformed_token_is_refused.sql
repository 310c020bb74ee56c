-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select throws_ok(format('select pawl.record_step(%L)', k), 'PW003', null, coalesce(k, 'null'))
from unnest(array[null, '', 'x', 'pawl1', format('pawl2 %s 0 %s %s - a#1', :'r', :s, :f), format('pawl1 %s 0 %s %s -', :'r', :s, :f),
    format('pawl1 %s 0 %s %s - a#1 more', :'r', :s, :f), format('pawl1 %s x %s %s - a#1', :'r', :s, :f), format('pawl1 %s 0 9999999999999999999 %s - a#1', :'r', :f),
    format('pawl1 ------------------------------------ 0 %s %s - a#1', :s, :f), format('pawl1 %s 0 %s %s - A#1', :'r', :s, :f), format('pawl1 %s 0 %s %s - rollback:a#1', :'r', :s, :f),
    format('pawl1 %s -1 %s %s - a#1', :'r', :s, :f), format('pawl1 %s 0 %s %s 1.5 a#1', :'r', :s, :f)]) k;
select throws_ok(format('select pawl.record_step(%L, to_json(repeat(%L, 1048576)))', pawl.step_token(:s, :'r', :f, 'a#1'), 'x'), 'PW003', null, 'an output over a megabyte');
select is((select count(*) from pawl_data.step), 0::bigint, 'nothing was recorded');
select * from finish();
