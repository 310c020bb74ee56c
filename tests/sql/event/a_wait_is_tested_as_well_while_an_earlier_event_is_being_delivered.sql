-- SPDX-License-Identifier: Apache-2.0
-- While an earlier event of a topic is being delivered, a later one is given to its waits one by one. What holds for many at once holds there, too.
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'event', 'any#1', null, '{"topic": "go"}'), 'ok', 'a run waits for any event');
create temporary table pattern as select w.digest from pawl_data.wait w where w.name = 'any#1';
select pawl.kill(array[:'r'::uuid]) \g /dev/null
-- Waits for any event, before those of all other runs. Their runs do not exist.
create function pg_temp.crowd(size int) returns void language sql as $$
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
    select ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'w#1', 'e', 1, '', 'go', '', p.digest, pawl.now(), 'infinity'
    from pattern p, generate_series(1, size) n;
$$;
create function pg_temp.later_event(v int) returns int language sql as $$
    select pawl.test_clock_advance('1 ms');
    select woken from pawl.emit('go', json_build_object('v', v))
$$;
-- The first event has more waits than its emit settles, and is not delivered further in this test.
create function pg_temp.first_event() returns void language sql as $$
    select pg_temp.later_event(1);
    update pawl_data.delivery set due_at = pawl.now() + interval '50 min';
$$;
create function pg_temp.waits(session bigint, run uuid, fence int, name text) returns text language sql as $$
    select i.answer || coalesce(' ' || (i.value ->> 'state'), '')
    from t.item(session, run, fence, 'event', name, null, '{"topic": "go", "match": {"/v": 2}}') i
$$;
create function pg_temp.start_again() returns void language sql as $$
    delete from pawl_data.delivery;
    delete from pawl_data.wait;
    delete from pawl_data.event;
$$;

-- One run with two waits.
select run_id as r, fence as f from t.held(:s) \gset
select pg_temp.waits(:s, :'r', :f, 'a/w#1'), pg_temp.waits(:s, :'r', :f, 'b/w#1') \g /dev/null
-- After the run.
insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
select ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 0, 'w#1', 'e', 1, '', 'go', '', p.digest, pawl.now(), 'infinity'
from pattern p, generate_series(1, 1001) n;
select pg_temp.first_event();
select is((select count(*) from pawl_data.delivery), 1::bigint, 'an event has more waits than its emit settles');
select is(pg_temp.later_event(2), 1, 'a second one settles one wait of a run that has two');
select is((select string_agg(name, ' ') from pawl_data.step where run_id = :'r'), 'a/w#1', 'which is recorded');

-- A run that took the second event itself, before housekeeping comes to its other wait.
select pg_temp.start_again();
select run_id as r, fence as f from t.held(:s) \gset
select pg_temp.waits(:s, :'r', :f, 'a/w#1') \g /dev/null
select pg_temp.crowd(1000);
select pg_temp.first_event();
select pg_temp.later_event(2) \g /dev/null
-- Housekeeping comes later.
update pawl_data.delivery set due_at = pawl.now() + interval '500 ms' where due_at <= pawl.now();
select is(pg_temp.waits(:s, :'r', :f, 'b/w#1'), 'ok SUCCESS', 'the second event is taken by a wait that looks back');
-- A run that is triggered after it.
select pawl.test_clock_advance('1 ms') as c \gset
select run_id as later, fence as lf from t.held(:s) \gset
select is(pg_temp.waits(:s, :'later', :lf, 'w#1'), 'ok PAUSED', 'a run that is triggered now does not find it');
select t.later('2 s', :s);
select is((select count(*) from pawl_data.event e join pawl_data.delivery d using (event_id) where e.payload ->> 'v' = '1'), 1::bigint,
    'the first event is still being delivered');
select is((select string_agg(name, ' ') from pawl_data.step where run_id = :'r'), 'b/w#1', 'the run has the second one once');
select is((select count(*) from pawl_data.step where run_id = :'later'), 0::bigint, 'the later run has not got it');
select * from finish();
