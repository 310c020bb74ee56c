-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create temp table odd as select n, p from unnest(array['null', 'true', '0', '""', '[]', '{}', ' 1 ', '"\ud83d\ude00"', '"\u0000"', '1e999999', '{"":{"":""}}']) with ordinality u (p, n);
select is((select string_agg(t.answer(:s, :'r', :f, 'step', 'a#' || n, p, null, n::int), ' ' order by n) from odd), 'ok ok ok ok ok ok ok ok ok ok ok', 'each is JSON');
select is((select count(*) from odd o join pawl_data.step s on s.name = 'a#' || o.n and s.output::text = o.p), 11::bigint, 'and comes back the same');
create temp table bad as select p from unnest(array['', ' ', 'nul', '01', '1.', '{a:1}', '''x''', '[1,]', '{"a":1,}', '"' || chr(9) || '"', 'NaN', '1 2', '{"a" 1}', '"\x"', '"\ud83d"x']) p;
select is((select string_agg(distinct t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'b#1', 'payload', p)), true), ' ') from bad), 'refused', 'each of these is not');
select lives_ok(format('select * from pawl.get_run(%L)', :'r'), 'the run can be read');
select is(t.answer(:s, :'r', :f, 'release'), 'ok', 'and given back');
select lives_ok(format('select * from pawl.claim(%s)', :s), 'and claimed');

select * from finish();
