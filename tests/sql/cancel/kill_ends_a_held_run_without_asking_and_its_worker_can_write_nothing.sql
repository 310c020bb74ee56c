-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.kill(array[:'r'::uuid], 'now', 'ann')), 'ok', 'killed');
select is(t.state(:'r'), 'CANCELLED', 'ended at once');
select is((select error ->> 'code' from pawl.get_run(:'r')), 'killed', 'its error says so');
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'cancelled', 'a step is refused');
select is((select answer from pawl.complete(:s, :'r', :f)), 'cancelled', 'so is the end');
select is((select count(*) from pawl_data.step), 0::bigint, 'nothing is recorded');
select is((select count(*) from pawl.held(:s)), 0::bigint, 'the worker holds nothing');
select is((select answer from pawl.kill(array[:'r'::uuid])), 'already', 'twice: already');
select is((select who from pawl.history(:'r') where what = 'kill'), 'ann', 'the history says who');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'its next round');
select is((select fence > :f + 1 from t.one(:s)), true, 'has a higher fence');
select * from finish();
