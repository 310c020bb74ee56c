-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(array_agg(answer), '{ok,ok}'::text[], 'one without its place, one with')
from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f], array['step', 'step'], array['a#1', 'b#1'], array['1', '2'], array[null, 2]);
select is(array_agg(name order by seq), '{a#1,b#1}'::text[], 'the order is that of the call') from pawl_data.step where run_id = :'r';
select * from finish();
