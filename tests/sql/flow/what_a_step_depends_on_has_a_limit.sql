-- SPDX-License-Identifier: Apache-2.0
-- Each output is within the limit of a payload, but all of them are given to one step, or are what the run came to.
select plan(9);
create or replace function pawl._gather_max() returns bigint language sql immutable as 'select 10000::bigint';
select t.session('{wide.flow/*,leaves.flow/*,in.flow/*,out.flow/*}') as s \gset
create function pg_temp.complete(session bigint, size int) returns text language sql as $$
    select string_agg(distinct c.answer, ' ')
    from (select array_agg(run_id) as runs, array_agg(fence) as fences, array_agg(task) as tasks, count(*)::int as n from pawl.held(session)) h
    cross join lateral pawl.commit(session, h.runs, h.fences, array_fill('complete'::text, array[h.n]),
        payloads => array_fill(to_json(repeat('x', size - 2))::text, array[h.n]), tasks => h.tasks) c
$$;

select t.flow('wide.flow', (select json_agg(json_build_array('s' || i)) from generate_series(1, 5) i));
select pawl.add_step('wide.flow', 'join', array(select 's' || i from generate_series(1, 5) i)) as c \gset
select run_id as small from pawl.trigger('wide.flow', '{}') \gset
select count(*) from pawl.claim(:s, 5) \g /dev/null
select pg_temp.complete(:s, 2000) as c \gset
select is((select count(*) from pawl_data.task where run_id = :'small' and task_no = 6000000), 1::bigint, '10,000 bytes are not too much');
update pawl_data.task set place = 'w', due_at = 'infinity' where run_id = :'small' and task_no = 6000000;
select run_id as large from pawl.trigger('wide.flow', '{}') \gset
select count(*) from pawl.claim(:s, 5) \g /dev/null
select is(pg_temp.complete(:s, 2500), 'ok', '12,500 bytes are recorded');
select is((select r.status || ': ' || (r.error ->> 'code') || ', ' || (r.error ->> 'message') from pawl.result(:'large') r),
    'ERROR: output_too_large, the outputs that step join depends on have 12500 bytes together, the limit is 10000', 'and are too much');

select t.flow('leaves.flow', (select json_agg(json_build_array('s' || i)) from generate_series(1, 5) i));
select run_id as small from pawl.trigger('leaves.flow', '{}') \gset
select count(*) from pawl.claim(:s, 5) \g /dev/null
select pg_temp.complete(:s, 2000) as c \gset
select is((select octet_length(r.output::text) > 10000 from pawl.result(:'small') r), true, 'so it is with what a run comes to');
select run_id as large from pawl.trigger('leaves.flow', '{}') \gset
select count(*) from pawl.claim(:s, 5) \g /dev/null
select is(pg_temp.complete(:s, 2500), 'ok', '12,500 bytes are recorded');
select is((select r.status || ': ' || (r.error ->> 'code') || ', ' || (r.error ->> 'message') from pawl.result(:'large') r),
    'ERROR: output_too_large, the outputs of the last steps have 12500 bytes together, the limit is 10000', 'and are too much');

-- A child flow may yield more than a payload, so even few of them are looked at.
update pawl_data.setting set payload_max = 2000;
select t.flow('in.flow', '[["a"], ["b"], ["c"]]');
select pawl.create_flow('out.flow') as c \gset
select pawl.add_step('out.flow', 'm1', '{}', '{"workflow": "in.flow"}'), pawl.add_step('out.flow', 'm2', '{}', '{"workflow": "in.flow"}') \g /dev/null
select run_id as ends from pawl.trigger('out.flow', '{}') \gset
select is((select count(*) from pawl.claim(:s, 10)), 6::bigint, 'two child flows');
select is(pg_temp.complete(:s, 1990), 'ok', 'each of which yields 6,000 bytes');
select is((select r.error ->> 'code' from pawl.result(:'ends') r), 'output_too_large', 'are too much together');
select * from finish();
