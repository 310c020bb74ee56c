-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, (select json_agg(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', n, 'payload', to_json(n)::text, 'seq', i) order by i)
    from unnest('{a#1,a#2,left/a#1,right/a#1,left/left/a#1}'::text[]) with ordinality u (n, i))), 'ok ok ok ok ok', 'five steps');
select is((select string_agg(answer, ' ' order by n) from unnest('{a#1,a#2,left/a#1,right/a#1,left/left/a#1}'::text[]) n, pawl.step(:s, :'r', :f, n, '0')
    where value ->> 'output' = n), 'already already already already already', 'each has its own record');

select * from finish();
