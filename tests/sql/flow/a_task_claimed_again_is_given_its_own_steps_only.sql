-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select t.session(name => 'dead') as d \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select pawl.add_step('u.flow', 'seats', '{}', '{"undo": "unseat", "map": "run"}') as c \gset
select run_id as r from pawl.trigger('u.flow', '[1, 2]') \gset
create function pg_temp.steps(session bigint, request int) returns text language sql as $$
    select string_agg(c.task || ':' || coalesce((
               select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ',' order by n)
               from json_array_elements(c.record -> 'steps') with ordinality y (x, n)), ''), ' ' order by c.task)
    from pawl.claim(session, 10, request) c
$$;
select is(pg_temp.steps(:d, 1), '1000000: 2000001: 2000002:', 'three tasks');
select is((select string_agg(answer, ' ') from pawl.commit(:d, array[:'r', :'r']::uuid[], '{1,1}', '{step,step}', '{in#1,in#1}', '{1,1}', '{1,1}', '{1000000,2000002}')), 'ok ok', 'two of which record a step');
select t.later('31 s', :s) \g /dev/null
select is(pg_temp.steps(:s, 1), '1000000:in#1 SUCCESS 2000001: 2000002:in#1 SUCCESS', 'another worker is given the steps of each');
-- The run ends with them. All three had started, so each leaves a record of itself for the rollback.
select answer from pawl.cancel(array[:'r'::uuid]) \gset
select t.later('31 s', :s) \g /dev/null
select is((select string_agg(p.task_no || ' ' || p.name || ' ' || p.state::text, ', ' order by p.task_no) from pawl_data.step p where p.name !~ '#'), '1000000 book r, 2000001 seats r, 2000002 seats r', 'nobody knows what became of them');
select answer from pawl.retry(array[:'r'::uuid]) \gset
select is(pg_temp.steps(:s, 2), '1000000:in#1 SUCCESS 2000001: 2000002:in#1 SUCCESS', 'in the next round that is none of its steps');
select is(pg_temp.steps(:s, 2), '1000000:in#1 SUCCESS 2000001: 2000002:in#1 SUCCESS', 'nor in a reply that was lost');
-- The rollback needs them.
select answer from pawl.cancel(array[:'r'::uuid], 'stop', true) \gset
select t.later('31 s', :s) \g /dev/null
select is((select string_agg((u ->> 'name') || ' ' || (u ->> 'uncertain'), ', ') from pawl.claim(:s, 10), json_array_elements(record -> 'undos') u), 'seats#2 true, seats#1 true, book#1 true', 'the rollback has them');
select * from finish();
