-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.stop_clock();
select pawl.create_workflow('w'), pawl.create_workflow('v') \g /dev/null
create function runs() returns text language sql as $$
    select string_agg(split_part(t.key, '/', 2) || ' ' || t.tenant || ' ' || (t.metadata -> 'event' ->> 'topic'), ', ' order by t.key) from pawl_data.task t
$$;
create function finish_all() returns void language sql as $$ delete from pawl_data.task $$;
-- From before the subscription: nothing.
select pawl.emit('news', '{"n": 0}') \g /dev/null
select is((select count(*) from pawl_data.subscription_event), 0::bigint, 'without a subscription, an emit stores nothing for one');
select is(pawl.create_subscription('a', 'news', 'w'), 'created', 'created');
select is(pawl.create_subscription('a', 'news', 'w'), 'exists', 'the same again');
select is(pawl.create_subscription('a', 'news', 'v'), 'differs', 'another under its name');
call pawl.tick(true);
select is(runs(), null, 'an event from before the subscription starts nothing');
-- One of two topics, keys, matches.
select is(pawl.create_subscription('b.key', 'news', 'v', key => 'k', input => 'event'), 'created', 'one with a key');
select is(pawl.create_subscription('c.match', 'news', 'v', match => '{"/n": 1.0}'), 'created', 'one with a match');
select is(pawl.create_subscription('a', 'news', 'w', tenant => 'other'), 'created', 'one of another tenant');
select event_id as e1 from pawl.emit('news', '{"n": 1}', id => pawl.make_id()) \gset
select pawl.emit('olds', '{"n": 1}') \g /dev/null
select is((select count(*) from pawl_data.subscription_event), 1::bigint, 'only the event of a topic with subscriptions is stored for them');
select pawl.emit('news', '{"n": 1}', id => :'e1') \g /dev/null
select is((select count(*) from pawl_data.subscription_event), 1::bigint, 'and once');
call pawl.tick(true);
select is(runs(), 'a  news, c.match  news', 'the match is compared as a wait compares it');
select is((select input::text from pawl_data.task where key = 'event/a/' || :'e1'), '{"n": 1}', 'the payload is the input');
select is((select metadata -> 'event' ->> 'id' from pawl_data.task where key = 'event/a/' || :'e1'), :'e1', 'the metadata has the event');
select matches((select pawl.why(run_id) from pawl_data.task where key = 'event/a/' || :'e1'), 'Started by event ' || :'e1' || ' [(]subscription a[)][.]$', 'why names the event');
select is((select count(*) from pawl_data.subscription_event), 0::bigint, 'nothing is left');
call pawl.tick(true);
select is((select count(*) from pawl_data.task), 2::bigint, 'and nothing is started again');
select finish_all() \g /dev/null
select event_id as e2 from pawl.emit('news', '{"n": 2}', key => 'k') \gset
call pawl.tick(true);
select is(runs(), 'a  news, b.key  news', 'the key is compared');
select is((select (input - 'at' - 'id') || jsonb_build_object('id', input ->> 'id' = :'e2') from (select input::jsonb from pawl_data.task where key like 'event/b.key/%') i),
    '{"id": true, "key": "k", "topic": "news", "payload": {"n": 2}, "subscription": "b.key"}', 'the input may be the whole event');
select finish_all() \g /dev/null
select pawl.emit('news', '{"n": 1}', tenant => 'other') \g /dev/null
call pawl.tick(true);
select is(runs(), 'a other news', 'a tenant''s event starts runs of that tenant');
select finish_all() \g /dev/null
-- A subscription gets what is emitted after it, whatever housekeeping and the clock do.
select pawl.emit('news', '{"n": 3}') \g /dev/null
select is(pawl.create_subscription('d.late', 'news', 'w'), 'created', 'one more, while an event waits for housekeeping');
call pawl.tick(true);
select is(runs(), 'a  news', 'it does not get that event');
select finish_all() \g /dev/null
select pawl.test_clock_advance('-1 hour') \g /dev/null
select pawl.emit('news', '{"n": 3}') \g /dev/null
call pawl.tick(true);
select is(runs(), 'a  news, d.late  news', 'with the clock set back it gets the next one');
select finish_all() \g /dev/null
select pawl.test_clock_advance('1 hour') \g /dev/null
-- Rolled back: nothing.
begin;
select pawl.emit('news', '{"n": 3}') \g /dev/null
rollback;
call pawl.tick(true);
select is(runs(), null, 'an event that was rolled back starts nothing');
-- Deleted, and created again.
select pawl.emit('news', '{"n": 3}') \g /dev/null
select is(pawl.delete_subscription('a'), 'ok', 'deleted');
select is(pawl.create_subscription('a', 'news', 'w'), 'created', 'and created again');
call pawl.tick(true);
select is(runs(), 'd.late  news', 'it gets only later events');
select throws_ok($$select pawl.delete_subscription('gone')$$, 'PW001', null, 'one that is not there');
select finish_all() \g /dev/null
-- The row of an event that comes again, as after a restore, finds its run.
select event_id as e3 from pawl.emit('news', '{"n": 3}') \gset
create temporary table kept_row as select * from pawl_data.subscription_event;
call pawl.tick(true);
insert into pawl_data.subscription_event select * from kept_row;
call pawl.tick(true);
select is(runs(), 'a  news, d.late  news', 'one event and subscription have one run');
-- A flow.
select pawl.create_flow('f'), pawl.add_step('f', 'one') \g /dev/null
select pawl.create_subscription('e.flow', 'build', 'f') \g /dev/null
select event_id as e4 from pawl.emit('build') \gset
call pawl.tick(true);
select is((select count(*) from pawl_data.task where key = 'event/e.flow/' || :'e4' or run_id = (select run_id from pawl_data.task where key = 'event/e.flow/' || :'e4')), 2::bigint, 'an event starts a flow');
-- An ended run.
select run_id as r from pawl_data.task where key = 'event/a/' || :'e3' \gset
select pawl.cancel(array[:'r'::uuid]) \g /dev/null
select matches(pawl.why(:'r'), '^Ended CANCELLED .* Started by event ' || :'e3', 'why of an ended run names the event, too');
-- More than a round.
select finish_all() \g /dev/null
select pawl.create_subscription('x' || n, 'busy', 'w') from generate_series(1, 3) n \g /dev/null
select count(*) from generate_series(1, 5) n, lateral pawl.emit('busy', to_json(n)) \g /dev/null
select pawl._start_runs(pawl.now(), 5, null, false) \g /dev/null
select is((select count(*) from pawl_data.task), 3::bigint, 'a round starts at most as many runs as it is told');
do $$ begin for i in 1..10 loop call pawl.tick(true); end loop; end $$;
select is((select count(distinct key) from pawl_data.task), 15::bigint, 'later rounds start the others');
select * from finish();
