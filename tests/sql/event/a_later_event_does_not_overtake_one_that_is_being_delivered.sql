-- SPDX-License-Identifier: Apache-2.0
-- The waits are copies of one that was opened by a worker, because a thousand one by one take their time.
select plan(16);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'go')), 'ok', 'a run waits');
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[1199])) \gset
create temporary table pattern as select w.key, w.digest from pawl_data.wait w;
delete from pawl_data.wait;
create temporary table numbered as select k.run_id, row_number() over (order by k.run_id) as n from pawl_data.task k;
create function wait_for(step text, first int, last int, match json default null) returns bigint language sql as $$
    update pawl_data.task k set place = 'w', due_at = 'infinity', reason = 'event', recorded = true, attached = true
    from numbered m where m.run_id = k.run_id and m.n between first and last;
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, match, created_at, due_at)
    select m.run_id, 0, step || '#1', 'e', 1, '', 'go', p.key, case when match is null then p.digest else pawl._match_digest(match) end, match, pawl.now(), 'infinity'
    from numbered m, pattern p
    where m.n between first and last;
    select count(*) from pawl_data.wait
$$;
-- What each step got, and how often.
create function got() returns text language sql as $$
    select coalesce(string_agg(format('%s %s: %s', x.name, x.output, x.n), ', ' order by x.name, x.output), '')
    from (select split_part(s.name, '#', 1) as name, s.output::text as output, count(*) as n from pawl_data.step s group by 1, 2) x
$$;
-- An event has its place by the time it was emitted at.
create function emit_later(payload json) returns int language sql as $$
    select pawl.test_clock_advance('1 ms');
    select woken from pawl.emit('go', payload)
$$;
create function start_again() returns bigint language sql as $$
    delete from pawl_data.wait;
    delete from pawl_data.step;
    delete from pawl_data.delivery;
    delete from pawl_data.event;
    select count(*) from pawl_data.wait
$$;

select wait_for('a', 1, 1200) as c \gset
select is(emit_later('1'), 1000, 'an event wakes 1,000 of 1,200 runs');
select is(emit_later('2'), 200, 'a second one wakes the others, before housekeeping comes to them');
select is(got(), 'a 1: 1200', 'these get the first');
select t.later('1 s', :s);
select is((select count(*) from pawl_data.delivery), 0::bigint, 'both are delivered');
select is((select string_agg(distinct (pawl._find_event(k, 'go', '', null, pawl.now())).payload::text, ' ') from pawl_data.task k), '2',
    'the second is there for the next wait of each');

-- Housekeeping, which takes the second event first, because the first had to wait for somebody.
select start_again() as c \gset
update pawl_data.topic set path_sets = array['', '/v'];
select wait_for('a', 1, 1190) as c \gset
select wait_for('b', 1191, 1200, '{"/v": 2}') as c \gset
select is(emit_later('{"v": 1}'), 1000, 'an event wakes 1,000 of 1,190 runs');
select wait_for('c', 1, 1000) as c \gset
select is(emit_later('{"v": 2}'), 1000, 'which wait again, and are woken by the second');
update pawl_data.delivery set due_at = pawl.now() + interval '10 min'
where event_id = (select event_id from pawl_data.event order by emitted_at limit 1);
select t.later('1 s', :s);
select is(got(), 'a {"v": 1}: 1190, b {"v": 2}: 10, c {"v": 2}: 1000', 'others get the first, and the second only if they wait for that alone');
select t.later('10 min', :s);
select is((select count(*) from pawl_data.delivery) || ' ' || (select count(*) from pawl_data.wait), '0 0', 'both are delivered');

-- Somebody else delivers the first at this moment: what it gives to whom cannot be seen yet.
select start_again() as c \gset
select wait_for('a', 1, 1200) as c \gset
select is(emit_later('1'), 1000, 'an event wakes 1,000 of 1,200 runs');
select t.other_holds('select event_id::text from pawl_data.delivery for update');
select is(emit_later('2'), 0, 'a second one leaves the others to whoever delivers the first');
select t.other_done();
select t.later('1 s', :s);
select is(got(), 'a 1: 1200', 'they get the first');

-- Two waits of a run, where the second is one too many for the call of emit.
select start_again() as c \gset
select wait_for('a', 1, 1200) as c \gset
select wait_for('b', 3, 1200) as c \gset
update pawl_data.wait set seq = 2 where name = 'b#1';
select is(emit_later('1'), 501, 'one event for one wait of each run');
select is(emit_later('2'), 1000, 'the next is for the second wait of those, and of others that get both');
select t.later('1 s', :s);
select t.later('1 s', :s);
select t.later('2 s', :s);
select t.later('2 s', :s);
select is(got(), 'a 1: 1200, b 2: 1198', 'each wait has its event in the end');
select * from finish();
