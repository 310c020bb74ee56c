-- SPDX-License-Identifier: Apache-2.0
-- All of the inputs of a thousand tasks could be more than a reply, or a value in the database, can hold.
select plan(11);
create or replace function pawl._claim_max() returns bigint language sql immutable as 'select 50000::bigint';
select t.session() as s \gset

-- Coded runs.
select t.run(input => to_json(repeat('x', 4998))) from generate_series(1, 13) \g /dev/null
select t.run() as small \gset
create temp table got as select run_id, octet_length(input::text) as bytes from pawl.claim(:s, 1000);
select is((select count(*) from got where bytes = 5000), 10::bigint, 'as many as the limit holds');
select is((select count(*) from got where run_id = :'small'), 1::bigint, 'and what has a small input');
select is((select array_agg(distinct fence) from pawl_data.task where place = 'r'), array[0], 'the fences of the others are not raised');
select is((select count(*) from pawl.claim(:s, 1000)), 3::bigint, 'they are what the next claim gets');

-- Elements of a map, each with the input of its run.
select t.session('{map.flow/each}') as s \gset
select pawl.create_flow('map.flow') as c \gset
select pawl.add_step('map.flow', 'each', '{}', '{"map": "run"}') as c \gset
select run_id as r from pawl.trigger('map.flow', (select json_agg(repeat('y', 100)) from generate_series(1, 40))) \gset
create temp table element as select task, octet_length(input::text) as bytes, (input ->> 'index')::int as index from pawl.claim(:s, 1000);
select is((select sum(bytes) between 45000 and 51000 from element), true, 'elements with so much together');
select is((select max(index) + 1 from element), (select count(*)::int from element), 'the first ones');
do $$
begin
    for i in 1..5 loop
        insert into element select task, octet_length(input::text), (input ->> 'index')::int from pawl.claim((select max(session_id) from pawl_data.worker), 1000);
    end loop;
end $$;
select is((select array[count(distinct index), max(index)] from element), '{40,39}', 'later claims get the rest');

-- What steps depend on.
select t.session('{join.flow/*}') as s \gset
select t.flow('join.flow', '[["a"], ["b", "a"]]');
select run_id from pawl.trigger_many('join.flow', array_fill('{}'::json, array[13])) \g /dev/null
select count(*) from pawl.claim(:s, 1000) \g /dev/null
select is((
    select string_agg(distinct c.answer, ' ')
    from (select array_agg(run_id) as runs, array_agg(fence) as fences, array_agg(task) as tasks from pawl.held(:s)) h
    cross join lateral pawl.commit(:s, h.runs, h.fences, array_fill('complete'::text, array[13]),
        payloads => array_fill(to_json(repeat('x', 4998))::text, array[13]), tasks => h.tasks) c), 'ok', 'each of 13 steps yields 5000 bytes');
select is((select count(*) from pawl.claim(:s, 1000) where octet_length(input ->> 'a') = 4998), 9::bigint, 'as many as the limit holds');
select is((select count(*) from pawl.claim(:s, 1000)), 4::bigint, 'then the rest');
select is((select count(*) from pawl.claim(:s, 1000)), 0::bigint, 'and that is all');
select * from finish();
