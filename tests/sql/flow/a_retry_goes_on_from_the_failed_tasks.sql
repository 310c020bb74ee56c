-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.session() as s \gset
select pawl.create_flow('r.flow', max_attempts => 1) as c \gset
select pawl.add_step('r.flow', 'a') as c \gset
select pawl.add_step('r.flow', 'each', '{a}', '{"map": "a"}') as c \gset
select pawl.add_step('r.flow', 'b', '{a}') as c \gset
select pawl.add_step('r.flow', 'end', '{each,b}') as c \gset
select run_id as r from pawl.trigger('r.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'a', '[1, 2, 3]') as c \gset
select is((select count(*) from pawl.claim(:s, 10)), 4::bigint, 'three elements and b');
select t.done(:s, :'r', 'each', '10', 0) as c \gset
select t.done(:s, :'r', 'b', '"b"') as c \gset
select t.done(:s, :'r', 'each', '30', 2) as c \gset
select is(t.failed(:s, :'r', 'each', '{"message": "no"}', 1), 'ok', 'one element fails');
select is(t.state(:'r'), 'ERROR', 'and with it the run');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'a next round');
select is((select string_agg(task || ' ' || round || ' ' || (input ->> 'item'), ',') from pawl.claim(:s, 10)), '2000002 2 2', 'of the failed element alone');
select is((select answer from pawl.complete(:s, :'r', 1, '0', 2000002)), 'lease_lost', 'a claim of the first round has no say');
select is(t.done(:s, :'r', 'each', '20', 1), 'ok', 'now it works');
select is((select input::jsonb - 'run' from pawl.claim(:s, 10)), '{"b": "b", "each": [10, 20, 30]}', 'the join sees all');
select t.done(:s, :'r', 'end', '1') as c \gset
select is(t.state(:'r'), 'SUCCESS', 'done');
select is((select count(*) from pawl_data.gate), 0::bigint, 'no gate is left');
select * from finish();
