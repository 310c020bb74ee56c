-- SPDX-License-Identifier: Apache-2.0
-- It was never held, so that no lease of it can have been lost.
select plan(6);
select t.session() as s \gset
select pawl.create_flow('f.flow'), pawl.add_step('f.flow', 'a'), pawl.add_step('f.flow', 'm', '{}', '{"map": "run"}') \gset
select run_id as r from pawl.trigger('f.flow', '[1, 2]') \gset
select count(*) as n from pawl.claim(:s, 10) \gset
create function answer(session bigint, run uuid, task int) returns text language sql as $$
    select concat_ws(': ', c.answer, c.reason) from pawl.commit(session, array[run], array[1], array['complete'], payloads => array['1'], tasks => array[task]) c
$$;
select is(answer(:s, :'r', 7000000), 'refused: the run has no task 7000000', 'a step that the flow does not have');
select is(answer(:s, :'r', 1000001), 'refused: the run has no task 1000001', 'an element of a step that is no map');
select is(answer(:s, :'r', 2000000), 'refused: the run has no task 2000000', 'a map as a whole');
select is(answer(:s, :'r', 2000001), 'ok', 'an element of a map is one');
select is((select answer from pawl.kill(array[:'r']::uuid[])), 'ok', 'the run ends');
select is(answer(:s, :'r', 7000000), 'refused: the run has no task 7000000', 'of a run that has ended as well');
select * from finish();
