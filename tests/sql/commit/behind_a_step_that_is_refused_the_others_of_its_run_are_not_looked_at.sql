-- SPDX-License-Identifier: Apache-2.0
-- Also in a call of nothing but steps, which are recorded together.
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select run_id as o, fence as g from t.held(:s) \gset
select is((select string_agg(c.answer, ' ' order by c.item) from pawl.commit(:s, array[:'r', :'r', :'o']::uuid[], array[:f, :f, :g],
    '{step,step,step}', '{Bad#1,b#1,c#1}', '{1,2,3}', '{1,2,1}') c), 'refused busy ok', 'a bad name; another run goes on');
select is((select string_agg(c.answer, ' ' order by c.item) from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f],
    '{step,step}', '{a#1,b#1}', array['"' || repeat('x', 2000000) || '"', '2'], '{1,2}') c), 'refused busy', 'too large an output');
select is((select string_agg(c.answer, ' ' order by c.item) from pawl.commit(:s, array[:'r', :'r']::uuid[], array[:f, :f],
    '{step,step}', '{b#1,Bad#1}', '{2,1}', '{1,2}') c), 'ok refused', 'the ones before it are');
select is((select string_agg(name, ' ' order by name) from pawl_data.step), 'b#1 c#1', 'what is recorded');
select * from finish();
