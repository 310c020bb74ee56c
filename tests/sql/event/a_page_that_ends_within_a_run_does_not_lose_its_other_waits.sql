-- SPDX-License-Identifier: Apache-2.0
-- Two tasks of a run wait. The wait of the first cannot take the event; that of the second is one too many for the call of emit.
select plan(8);
select t.session('{*}', '1 hour') as s \gset
select t.flow('w.flow', '[["a"], ["b"]]');
create function pg_temp.waits(session bigint, run uuid, task int) returns text language sql as $$
    select c.answer || coalesce(' ' || (c.value ->> 'state'), '')
    from pawl.commit(session, array[run], '{1}', '{event}', '{w#1}', null, '{1}', array[task], options => array['{"topic": "go", "match": {"/v": 2}}']) c
$$;
create function pg_temp.crowd(size int) returns void language sql as $$
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'w#1', 'e', 1, '', 'go', '', w.digest, pawl.now(), 'infinity'
    from (select distinct w.digest from pawl_data.wait w where w.topic = 'go') w, generate_series(1, size) n
$$;
create function pg_temp.taken() returns text language sql as $$
    select string_agg(task_no || ' ' || output::text, ', ' order by task_no) from pawl_data.step where kind = 'e' and state = 's'
$$;
-- A new run whose two tasks wait, 999 waits before it; the first task is ending.
create function pg_temp.prepare(session bigint) returns text language plpgsql as $$
declare
    v_run uuid;
begin
    delete from pawl_data.wait;
    delete from pawl_data.delivery;
    delete from pawl_data.step;
    v_run := (select r.run_id from pawl.trigger('w.flow', '5') r);
    perform from pawl.claim(session, 10);
    perform pg_temp.waits(session, v_run, 1000000), pg_temp.waits(session, v_run, 2000000);
    perform pg_temp.crowd(999);
    update pawl_data.task t set ending = '{"status": "CANCELLED"}' where t.run_id = v_run and t.task_no = 1000000;
    return (select string_agg(w.task_no::text, ' ' order by w.task_no) from pawl_data.wait w where w.run_id = v_run);
end
$$;

select is(pg_temp.prepare(:s), '1000000 2000000', 'two tasks of a run wait');
select is((select woken from pawl.emit('go', '{"v": 2}')), 0, 'the event is given to none of the first 1,000 waits');
delete from pawl_data.wait where run_id < '00000001-0000-7000-8000-000000000000';
select t.later('1 s');
select t.later('2 s');
select is(pg_temp.taken(), '2000000 {"v": 2}', 'but to the other wait of the run');
select t.later('2 s');
select is((select count(*) from pawl_data.delivery), 0::bigint, 'and is delivered');

-- While an earlier event is being delivered, which these waits do not match.
select is(pg_temp.prepare(:s), '1000000 2000000', 'two tasks of another run wait');
select pawl.test_clock_advance('1 ms') as c \gset
select event_id as first from pawl.emit('go', '{"v": 1}') \gset
insert into pawl_data.delivery (event_id, tenant, after, passed_over, due_at)
values (:'first', '', '00000000-0000-0000-0000-000000000000', false, pawl.now() + interval '50 min');
select pawl.test_clock_advance('1 ms') as c \gset
select is((select woken from pawl.emit('go', '{"v": 2}')), 0, 'the event is given to none of the first 1,000 waits');
delete from pawl_data.wait where run_id < '00000001-0000-7000-8000-000000000000';
select t.later('1 s');
select t.later('2 s');
select is(pg_temp.taken(), '2000000 {"v": 2}', 'but to the other wait of the run');
select t.later('2 s');
select is((select count(*) from pawl_data.delivery), 1::bigint, 'and is delivered');
select * from finish();
