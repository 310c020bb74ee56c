-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session('{p.flow/a}') as s \gset
select t.session() as other \gset
select t.flow('p.flow', '[["a"], ["b"], ["c", "a"]]');
select run_id as r from pawl.trigger('p.flow', '5') \gset
select count(*) from pawl.claim(:s, 1) \gset
select is((select answer from pawl.pause(array[:'r'::uuid], 'lunch')), 'ok', 'paused while one is held');
select is((select count(*) from pawl.claim(:other, 10)), 0::bigint, 'nothing is claimed');
select is(t.done(:s, :'r', 'a', '1'), 'ok', 'what is in flight is recorded');
select is((select count(*) from pawl.claim(:other, 10)), 0::bigint, 'and what follows waits');
select is(t.state(:'r'), 'PAUSED operator', 'paused');
select matches(pawl.why(:'r'), 'Paused by .* lunch', 'why');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is((select string_agg(workflow, ' ' order by task) from pawl.claim(:other, 10)), 'p.flow/b p.flow/c', 'both go on');
select * from finish();
