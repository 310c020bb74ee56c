-- SPDX-License-Identifier: Apache-2.0
-- The searches of doctor are bounded: four times as many runs of every kind cost the same.
select plan(3);
select t.session(array['none.at.all']) as s \gset
select t.run('test.flow') as r \gset
create function pg_temp.plant(p_from int, p_to int) returns void language plpgsql as $$
declare
    v_queue int := (select q.queue_id from pawl_data.queue q where q.name = 'test.flow');
    v_old timestamptz := pawl.now() - interval '8 days';
begin
    -- Ready, suspect, waiting without a time limit, failed.
    insert into pawl_data.task (run_id, task_no, queue_id, place, priority, due_at, triggered_at, tenant, reason)
    select pawl._id_make(v_old + i * interval '1 ms', 0), 0, v_queue, ('{r,s,w,w}'::"char"[])[i % 4 + 1], 100,
           case when i % 4 < 2 then v_old else 'infinity' end, v_old, '', case when i % 4 >= 2 then 'event' end
    from generate_series(p_from, p_to) i;
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, created_at, due_at)
    select t.run_id, 0, 'paid#1', 'e', 1, '', 'paid', '', v_old, 'infinity'
    from pawl_data.task t where t.place = 'w' on conflict do nothing;
    insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, triggered_at, ended_at, rolled_back, input_apart, tenant, error)
    select pawl._id_make(pawl.now() - interval '1 s' + i * interval '1 us', 0), 1, 'e', 100, v_queue, 1, 1, pawl.now(), pawl.now(), false, false, '', '{"code": "boom"}'
    from generate_series(p_from, p_to) i;
end
$$;
create function pg_temp.buffers() returns bigint language plpgsql as $$
declare v json;
begin
    execute 'explain (analyze, buffers, format json) select * from pawl._work_found(pawl.now())' into v;
    return (v -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
end
$$;
select pg_temp.plant(1, 25000);
vacuum analyze pawl_data.task; vacuum analyze pawl_data.wait; vacuum analyze pawl_data.run;
select pg_temp.buffers() \g /dev/null
select pg_temp.buffers() as few \gset
select pg_temp.plant(25001, 100000);
vacuum analyze pawl_data.task; vacuum analyze pawl_data.wait; vacuum analyze pawl_data.run;
select pg_temp.buffers() \g /dev/null
select pg_temp.buffers() as many \gset
select cmp_ok(:many, '<', 2 * :few, format('%s buffers with 25,000 of each, %s with 100,000', :few, :many));
select is((select found from pawl.doctor() where what = 'bounds'), 'not all was looked at: the newest 2000 failed runs, 10000 runs that wait without a time limit, the 10000 oldest waits', 'and it says what it did not look at');
select matches((select found from pawl.doctor() where what = 'queue'), 'over 1000 ready tasks', 'backlogs are counted no further than that');
select * from finish();
