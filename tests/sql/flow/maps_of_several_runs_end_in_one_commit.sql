-- SPDX-License-Identifier: Apache-2.0
-- Two maps side by side, gathered by two steps: in three runs at once, of which one has failed before, and one gathers too much.
select plan(10);
select t.session() as s \gset
select pawl.create_flow('maps.flow', max_attempts => 1) as c \gset
select pawl.add_step('maps.flow', 'x', '{}', '{"map": "run"}') as c \gset
select pawl.add_step('maps.flow', 'y', '{}', '{"map": "run"}') as c \gset
select pawl.add_step('maps.flow', 'both', '{x,y}') as c \gset
select pawl.add_step('maps.flow', 'one', '{y}') as c \gset
create or replace function pg_temp.answer(p_session bigint, p_payload text)
returns text
language sql
as $$
    with held as (select t.* from pawl_data.task t where t.place = 'h' and t.session_id = p_session order by t.run_id, t.task_no)
    select string_agg(distinct c.answer, ' ')
    from (select array_agg(h.run_id) as runs, array_agg(h.fence) as fences, array_agg(h.task_no) as tasks from held h) h
    cross join lateral pawl.commit(p_session, h.runs, h.fences, array_fill('complete'::text, array[cardinality(h.runs)]), null,
        array_fill(p_payload, array[cardinality(h.runs)]), null, h.tasks) c
$$;
select run_id as again from pawl.trigger('maps.flow', '[0]') \gset
select count(*) from pawl.claim(:s, 2) \gset
select t.failed(:s, :'again', 'x', '{}', 0) as c \gset
select t.failed(:s, :'again', 'y', '{}', 0) as c \gset
select answer as c from pawl.retry(array[:'again'::uuid]) \gset
select run_id as plain from pawl.trigger('maps.flow', '[1, 2]') \gset
select count(*) as all from pawl.claim(:s, 100) \gset
select is(:all, 6, 'elements of both maps in both runs');
select is(pg_temp.answer(:s, '7'), 'ok', 'all in one commit');
select is((select count(*) from pawl_data.gate), 0::bigint, 'no gate is left');
select is((select string_agg(run_id || ' ' || workflow || ' ' || (input::jsonb - 'run')::text, '; ' order by run_id = :'plain', workflow) from pawl.claim(:s, 100)),
    format('%1$s maps.flow/both {"x": [7], "y": [7]}; %1$s maps.flow/one {"y": [7]}; %2$s maps.flow/both {"x": [7, 7], "y": [7, 7]}; %2$s maps.flow/one {"y": [7, 7]}', :'again', :'plain'),
    'each step has what its maps came to, each once');
select is(pg_temp.answer(:s, '8'), 'ok', 'they are done');
select is((select string_agg(r.status || ' ' || r.output::jsonb, '; ') from unnest(array[:'again', :'plain']::uuid[]) i cross join lateral pawl.result(i) r),
    'SUCCESS {"one": 8, "both": 8}; SUCCESS {"one": 8, "both": 8}', 'and so are the runs');

select run_id as small from pawl.trigger('maps.flow', '[1]') \gset
select run_id as large from pawl.trigger('maps.flow', '[1, 2]') \gset
create or replace function pawl._gather_max() returns bigint language sql immutable as 'select 6::bigint';
select count(*) from pawl.claim(:s, 100) \gset
select is(pg_temp.answer(:s, '123'), 'ok', 'one of two runs gathers more than it may');
select is((select string_agg(workflow, ' ' order by workflow) from pawl.claim(:s, 100) where run_id = :'small'), 'maps.flow/both maps.flow/one', 'the other goes on');
select is((select r.error ->> 'message' from pawl.result(:'large') r),
    'the outputs that step both depends on have 12 bytes together, the limit is 6', 'it fails and says so');
select is((select count(*) from pawl_data.task where run_id = :'large'), 0::bigint, 'and starts nothing');
select * from finish();
