-- SPDX-License-Identifier: Apache-2.0
-- What is asked of each queue is not asked of each worker, each name or each other queue again.
select plan(11);
set client_min_messages to warning;
create function pg_temp.seconds(statement text, times int) returns float8 language plpgsql as $$
declare
    v_from timestamptz := clock_timestamp();
begin
    for i in 1..times loop
        execute statement;
    end loop;
    return date_part('epoch', clock_timestamp() - v_from);
end $$;
-- How much longer than one look at each queue, in the best of five rounds of both: machines may have other work.
create function pg_temp.looks(statement text) returns float8 language sql as $$
    select min(pg_temp.seconds(statement, 10)) / min(pg_temp.seconds(
        'select count(*) from pawl_data.queue q, lateral (select from pawl_data.task t where t.place = ''r'' and t.queue_id = q.queue_id limit 1) x', 10))
    from generate_series(1, 5)
$$;
select t.stop_clock() \g /dev/null
select pawl.create_workflow('q.n' || i) from generate_series(1, 1000) i \g /dev/null
select t.flow('q.flow', '[["one"], ["two"]]') \g /dev/null
select t.session('{q.*}', '1 h') from generate_series(1, 200) \g /dev/null
select t.session('{q.flow/one,q.flow/two,q.n7,q.n70*}', '1 h') as s \gset
select session as names, queues from pawl.register('names', array(select 'q.n' || i from generate_series(1, 1000) i)) \gset
select is(:queues, 1000, 'a worker of a thousand names');
select cmp_ok(pg_temp.looks(format('select pawl.heartbeat(%s)', :names)), '<', 50::float8, 'sends a heartbeat in the time of fifty looks at each queue');
select is((select cardinality(queue_ids) from pawl_data.worker where session_id = :s), 14, 'names and patterns stand for their queues');
select is((select queue_ids from pawl_data.worker where session_id = :s),
          (select array_agg(queue_id order by queue_id) from pawl_data.queue where name ~ '^q[.](n7|n70[0-9]?|flow/(one|two))$'), 'and for no others');
select cmp_ok(pg_temp.looks($$select from pawl.trigger('q.n8')$$), '<', 2::float8, 'a trigger beside two hundred workers takes no longer than two looks');
select cmp_ok(pg_temp.looks('select from pawl.list_queues()'), '<', 1000::float8, 'queues are listed in the time of a thousand looks');
select is((select string_agg(workers::text, ' ' order by queue) from pawl.list_queues(10000) where queue in ('q.flow/one', 'q.n7', 'q.n8')), '201 202 201', 'with their workers');
select cmp_ok(pg_temp.looks('select from pawl.list_workflows(max_rows => 1000)'), '<', 1000::float8, 'workflows, too');
select is((select string_agg(workers::text, ' ' order by workflow) from pawl.list_workflows(max_rows => 1000, only_workflow => 'q.*') where workflow in ('q.flow', 'q.n7', 'q.n70')), '201 202 202', 'a worker of two steps counts once');
-- Every second queue has something, and none of it is the session's.
select t.session(array(select 'q.n' || i from generate_series(1, 1000, 2) i), '1 h') as odd \gset
select pawl.trigger('q.n' || i) from generate_series(2, 1000, 2) i \g /dev/null
select cmp_ok(pg_temp.looks(format('select from pawl.claim(%s)', :odd)), '<', 14::float8, 'who finds nothing finds it in the time of fourteen');
select pawl.trigger('q.n501') \g /dev/null
select is((select workflow from pawl.claim(:odd)), 'q.n501', 'and who has something finds that');
select * from finish();
