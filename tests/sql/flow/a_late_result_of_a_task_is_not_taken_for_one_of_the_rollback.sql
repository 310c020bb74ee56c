-- SPDX-License-Identifier: Apache-2.0
-- A task and the rollback of its run have fences of their own, which may be the same number.
select plan(6);
select t.session() as s \gset
select pawl.create_flow('late.flow', max_attempts => 1) as c \gset
select pawl.add_step('late.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select run_id as r from pawl.trigger('late.flow', '{}') \gset
select count(*) from pawl.claim(:s, 1) \gset
select is((select answer from pawl.release(:s, :'r', 1, 1000000)), 'ok', 'given back once');
select is((select fence from pawl.claim(:s, 1)), 2, 'so the task has this fence');
select is((select answer from pawl.cancel(array[:'r'::uuid], 'stop', true)), 'ok', 'a cancel, and the holder is silent');
select t.later('31 s', :s);
select is((select fence || ' ' || rolling_back from pawl.claim(:s, 1)), '2 true', 'the rollback has the same');
select is((select string_agg(answer, ' ' order by item) from pawl.commit(:s, array[:'r', :'r']::uuid[], '{2,2}', '{step,complete}', '{rollback:book#1,null}', '{null,null}')), 'ok ok', 'it is done');
select is((select answer from pawl.complete(:s, :'r', 2, '1', 1000000)), 'cancelled', 'what the task came to was not recorded');
select * from finish();
