-- SPDX-License-Identifier: Apache-2.0
-- One task of a run is given an event by housekeeping, which has not committed that; another task of the run looks for an event at this moment.
select plan(10);
select t.session('{*}', '1 hour') as s \gset
select t.flow('w.flow', '[["a"], ["b"]]');
create function pg_temp.waits(session bigint, run uuid, task int, timeout bigint default null) returns text language sql as $$
    select c.answer || coalesce(' ' || (c.value ->> 'state'), '')
    from pawl.commit(session, array[run], '{1}', '{event}', '{w#1}', null, '{1}', array[task],
        options => array[json_build_object('topic', 'go', 'timeout_ms', timeout)::text]) c
$$;
-- Housekeeping comes to these first.
create function pg_temp.crowd(size int) returns void language sql as $$
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'w#1', 'e', 1, '', 'go', '', w.digest, pawl.now(), 'infinity'
    from (select distinct w.digest from pawl_data.wait w where w.topic = 'go') w, generate_series(1, size) n
$$;
create function pg_temp.taken() returns text language sql as $$
    select string_agg(task_no || ' ' || output::text, ', ' order by task_no) from pawl_data.step where kind = 'e' and state = 's'
$$;

-- A task that begins to wait.
select run_id as r from pawl.trigger('w.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \g /dev/null
select is(pg_temp.waits(:s, :'r', 1000000), 'ok PAUSED', 'a waits');
select pg_temp.crowd(1000) \g /dev/null
select is((select woken from pawl.emit('go', '1')), 0, 'its event does not reach it at once');
select t.other_holds('select pawl._deliver_more(pawl.now(), 500, null, false)::text') \g /dev/null
select is(pg_temp.waits(:s, :'r', 2000000), 'busy', 'b cannot know yet whether a has it');
select t.dblink_exec('other', 'commit') \g /dev/null
select is(pg_temp.waits(:s, :'r', 2000000), 'ok PAUSED', 'a has it, so b waits for the next');
select is(pg_temp.taken(), '1000000 1', 'it is taken once');

-- A task whose wait is over.
select answer from pawl.kill(array[:'r'::uuid]) \g /dev/null
delete from pawl_data.step;
delete from pawl_data.wait;
delete from pawl_data.delivery;
delete from pawl_data.event;
select t.dblink_disconnect('other') \g /dev/null
select run_id as r from pawl.trigger('w.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \g /dev/null
select pg_temp.waits(:s, :'r', 1000000), pg_temp.waits(:s, :'r', 2000000, 10000) \g /dev/null
select is((select answer from pawl.commit(:s, array[:'r'::uuid], '{1}', '{suspend}', tasks => '{2000000}')), 'ok', 'a and b wait, b for ten seconds');
-- An emit settles 1,000, housekeeping 500 at a time: the last of these is that of a, and b is not even looked at.
select pg_temp.crowd(1499) \g /dev/null
select woken from pawl.emit('go', '2') \g /dev/null
select t.other_holds('select pawl._deliver_more(pawl.now(), 500, null, false)::text') \g /dev/null
select t.later('11 s') \g /dev/null
select is((select json_array_length(record -> 'waits') from pawl.claim(:s, 10) where task = 2000000), 1, 'b still waits when its time is over');
select t.dblink_exec('other', 'commit') \g /dev/null
select is(pg_temp.taken(), '1000000 2', 'a has the event');
select is((select answer from pawl.commit(:s, array[:'r'::uuid], '{2}', '{suspend}', tasks => '{2000000}')), 'ok', 'b is suspended again');
select t.later('1 s') \g /dev/null
select is((select record -> 'steps' -> 0 ->> 'state' from pawl.claim(:s, 10) where task = 2000000), 'ERROR', 'and its wait has timed out');
select t.dblink_disconnect('other') \g /dev/null
select * from finish();
