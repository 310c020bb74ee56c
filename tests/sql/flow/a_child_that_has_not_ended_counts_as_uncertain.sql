-- SPDX-License-Identifier: Apache-2.0
select plan(14);
select t.session('{u.flow,u.flow/other}') as s \gset
select t.session('{kid}') as k \gset
select pawl.create_workflow('kid') as c \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook", "workflow": "kid"}') as c \gset
select pawl.add_step('u.flow', 'each', '{}', '{"undo": "uneach", "workflow": "kid", "map": "run"}') as c \gset
select pawl.add_step('u.flow', 'plain', '{}', '{"workflow": "kid"}') as c \gset
select pawl.add_step('u.flow', 'other') as c \gset
create function pg_temp.undos(session bigint) returns text language sql as $$
    select string_agg((u ->> 'name') || ' ' || (u ->> 'uncertain'), ', ')
    from pawl.claim(session, 10) c, json_array_elements(c.record -> 'undos') u
$$;
create function pg_temp.end_child(session bigint, run uuid, step text) returns text language sql as $$
    select t.answer(session, c.run_id, c.fence, 'complete', null, '7')
    from pawl_data.wait w join pawl_data.task c on c.run_id = w.child_id and c.task_no = 0
    where w.run_id = run and w.name = step order by w.task_no limit 1
$$;

-- Its step fails.
select run_id as r from pawl.trigger('u.flow', '[1, 2]') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is((select count(*) from pawl.claim(:k, 10)), 4::bigint, 'four children');
select is(pg_temp.end_child(:k, :'r', 'each'), 'ok', 'one has ended');
select is(t.failed(:s, :'r', 'other', '"no"'), 'ok', 'when another step fails');
select is(pg_temp.undos(:s), 'each#2 true, each#1 false, book#1 true', 'what they have done, or will have, is undone');
select answer from pawl.kill(array[:'r'::uuid]) \gset

-- A cancel that rolls back.
select run_id as r from pawl.trigger('u.flow', '[1]') \gset
select is((select answer from pawl.cancel(array[:'r'::uuid], 'stop', true)), 'ok', 'cancelled');
select is(pg_temp.undos(:s), 'each#1 true, book#1 true', 'the same');
select answer from pawl.kill(array[:'r'::uuid]) \gset

-- A kill rolls nothing back, but a later round may.
select run_id as r from pawl.trigger('u.flow', '[1]') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is((select answer from pawl.kill(array[:'r'::uuid])), 'ok', 'killed');
select is((select string_agg(p.name || ' ' || p.state::text, ', ' order by p.task_no) from pawl_data.step p where p.run_id = :'r'), 'book r, each r', 'not forgotten');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'another round');
select count(*) from pawl.claim(:k, 10) \gset
select is(pg_temp.end_child(:k, :'r', 'book'), 'ok', 'has children of its own');
select is((select string_agg(p.name || ' ' || p.state::text || ' ' || p.round, ', ' order by p.task_no) from pawl_data.step p where p.run_id = :'r'), 'book s 2, each r 1', 'what is known now replaces what was not');
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'other', '"no"') as c \gset
select is(pg_temp.undos(:s), 'each#1 true, book#1 false', 'and is undone as such');

-- In good order nothing is left.
select answer from pawl.kill(array[:'r'::uuid]) \gset
select run_id as r from pawl.trigger('u.flow', '[]') \gset
select t.session() as all \gset
select t.work(:all) as c \gset
select is(t.state(:'r'), 'SUCCESS', 'a run that ends well');
select is((select count(*) from pawl_data.step p where p.run_id = :'r' and p.state = 'r'), 0::bigint, 'has nothing uncertain');
select * from finish();
