-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.session() as s \gset
select t.run() as r \gset
select t.later('1 s', :s);
select fence as f from t.one(:s) \gset
select t.later('1 s', :s);
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a step');
select t.later('1 s', :s);
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}')), 'ok', 'a failure');
select t.later('2 s', :s);
select fence as f2 from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'two')), 'lease_lost', 'a late result');
select t.later('1 s', :s);
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough', by => 'ann')), 'ok', 'a cancel');
select t.later('1 s', :s);
select is((select answer from pawl.release(:s, :'r', :f2)), 'cancelled', 'it ends');
select is((select string_agg(what, ' ' order by n) from pawl.history(:'r') with ordinality h (at, what, round, who, detail, n)), 'triggered started step_succeeded attempt_failed late_result cancel ended', 'every transition in order');
select is((select bool_and(at >= before) from (select at, lag(at) over (order by n) as before from pawl.history(:'r') with ordinality h (at, what, round, who, detail, n)) x), true, 'and in time');
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'a plain run');
select is((select count(*) from pawl_data.audit where run_id = :'r'), 0::bigint, 'writes no extra row');
select is((select string_agg(what, ' ') from pawl.history(:'r')), 'triggered started ended', 'and has a history all the same');
select throws_ok($$select * from pawl.history(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select * from finish();
