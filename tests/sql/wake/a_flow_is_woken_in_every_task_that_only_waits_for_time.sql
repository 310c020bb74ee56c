-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.stop_clock() \gset
select t.session(lease => '1 h') as s \gset
select t.flow('f.flow', '[["a"], ["b"], ["c"], ["d"]]') \gset
select pawl.alter_workflow('f.flow', '{"base": "10 min", "jitter": 0}') \gset
select run_id as r from pawl.trigger('f.flow') \gset
select count(*) as n from pawl.claim(:s, 4) \gset
create function task(run uuid, session bigint, step text, kind text, name text, payload text, option json) returns text language sql as $$
    select answer from pawl.commit_each(session, array[run], array[1], array[kind], array[name], array[payload], tasks => array[t.task_of(run, step)], options => array[option::text])
$$;
select is(task(:'r', :s, 'a', 'fail', null, '{"message": "down"}', null), 'ok', 'one task has failed and will be repeated');
select is(task(:'r', :s, 'b', 'sleep', 'nap#1', null, '{"ms": 3600000}') || ' ' || task(:'r', :s, 'b', 'suspend', null, null, null), 'ok ok', 'one sleeps');
select is(task(:'r', :s, 'c', 'event', 'w#1', null, '{"topic": "paid"}') || ' ' || task(:'r', :s, 'c', 'suspend', null, null, null), 'ok ok', 'one waits for an event, one is held');
select is((select string_agg(answer || ' ' || coalesce(reason, ''), ', ') from pawl.wake(array[:'r']::uuid[], step => 'c')), 'refused step "c" neither sleeps nor waits for its next attempt', 'a task that waits for something else is not woken');
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[], step => 'b/nap')), 'ok', 'one may be named');
select is((select string_agg(task_no / 1000000 || ' ' || place::text, ', ' order by task_no) from pawl_data.task where run_id = :'r' and task_no > 0), '1 w, 2 r, 3 w, 4 h', 'it is ready, the others are as they were');
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[])), 'ok', 'or all');
select is((select string_agg(task_no / 1000000 || ' ' || place::text, ', ' order by task_no) from pawl_data.task where run_id = :'r' and task_no > 0), '1 r, 2 r, 3 w, 4 h', 'that wait for time alone');
select is((select string_agg(h.detail ->> 'ended', ' ' order by h.at, h.detail ->> 'ended' desc) from pawl.history(:'r') h where h.what = 'wake'), '["b/nap#1"] ["a"]', 'the history names them');
select is((select c.record -> 'retries' -> '' ->> 'n' from pawl.claim(:s, 4) c where c.workflow = 'f.flow/a'), '1', 'the failure is still counted');
select is((select string_agg(concat_ws(': ', answer, reason), ', ') from pawl.wake(array[:'r']::uuid[])), 'refused: a worker holds it', 'then there is nothing to wake');
select * from finish();
