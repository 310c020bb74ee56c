-- SPDX-License-Identifier: Apache-2.0
select plan(37);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow'), pawl.create_workflow('test.other'), pawl.create_workflow('test.free') \g /dev/null
select t.session(lease => '1 day', name => 'web-3') as s \gset
create function pg_temp.claimed(session bigint, most int default 100) returns text language sql as $$
    select coalesce(string_agg(format('%s=%s', workflow, n), ' ' order by workflow), 'none') from (select workflow, count(*) as n from pawl.claim(session, most) group by 1) c
$$;
create function pg_temp.done(session bigint, name text, most int) returns bigint language sql as $$
    select count(c.*)
    from (select run_id, fence from pawl_data.task t join pawl_data.queue q using (queue_id) where t.place = 'h' and q.name = done.name order by run_id limit most) h,
        lateral pawl.complete(session, run_id, fence) c
$$;
select pawl.alter_workflow('test.flow', '{"limit": 3}') \g /dev/null
select count(*) from generate_series(1, 10) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'k' || i % 4) \gset
select is(pg_temp.claimed(:s), 'test.flow=3', 'three, whatever their key');
select is(pg_temp.claimed(:s), 'none', 'and no more');
select is((select ready from pawl.rest(:s)), false, 'a worker that rests is told so');
select t.later('90 s', :s) \g /dev/null
select alike(pawl.why((select run_id from pawl_data.lane_task limit 1)),
    'Queued for 90 s: % ahead of it with limit key "k_", and 3 of 3 are held (limit of workflow test.flow); the oldest is held by web-3 for 90 s.', 'why names the limit and the holder');
select is((select count(*) from pawl.list_lanes('test.flow') where reason like '3 of 3 are held (limit of workflow test.flow)%'), 4::bigint, 'so do all keys');
select is(pg_temp.done(:s, 'test.flow', 1), 1::bigint, 'one ends');
select is((select ready from pawl.rest(:s)), true, 'there is something again');
select is(pg_temp.claimed(:s), 'test.flow=1', 'for one');
-- Raised, lowered.
select pawl.alter_workflow('test.flow', '{"limit": 5}') \g /dev/null
select is(pg_temp.claimed(:s, 1), 'test.flow=1', 'raised: it counts at once');
select is(pg_temp.claimed(:s), 'test.flow=1', 'up to the limit');
select pawl.alter_workflow('test.flow', '{"limit": 4}') \g /dev/null
select is(pg_temp.done(:s, 'test.flow', 1), 1::bigint, 'lowered, and one ends');
select is(pg_temp.claimed(:s), 'none', 'nothing starts');
-- With a limit of a key.
select pawl.alter_workflow('test.flow', '{"key_limit": 1, "limit": 100}') \g /dev/null
select pg_temp.done(:s, 'test.flow', 10) \g /dev/null
select is((select max(n) from (select count(*) as n from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) group by t.limit_key) c), 1::bigint, 'both limits count');
select pg_temp.done(:s, 'test.flow', 10) \g /dev/null
select t.work(:s), pawl.alter_workflow('test.flow', '{"key_limit": null}') \g /dev/null
select is((select count(*) from pawl_data.lane_hold), 0::bigint, 'nothing is held');
-- Shared.
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit_name": "stripe"}')$$, 'PW003', 'no workflow has a limit with the name "stripe"', 'a shared limit is made with a limit');
select pawl.alter_workflow('test.flow', '{"limit": 4, "limit_name": "stripe"}'), pawl.alter_workflow('test.other', '{"limit_name": "stripe"}') \g /dev/null
select is((select count(*) from pawl_data.held_limit), 1::bigint, 'one limit');
select results_eq('select workflow, held_limit, limit_name from pawl.list_workflows(''test.*'') order by workflow',
    $$values ('test.flow', 4, 'stripe'), ('test.free', null, null), ('test.other', 4, 'stripe')$$, 'the list has it');
select count(*) from generate_series(1, 10) i, lateral pawl.trigger('test.flow', to_json(i)) a, lateral pawl.trigger('test.other', to_json(i)) b, lateral pawl.trigger('test.free') c \gset
select is((select count(*) from pawl.claim(:s, 8) where workflow <> 'test.free'), 4::bigint, 'one claim of both workflows keeps to it');
select is((select count(*) from pawl.claim(:s, 100) where workflow <> 'test.free'), 0::bigint, 'so do later ones');
select is((select count(*) from pawl_data.task t join pawl_data.queue q using (queue_id) where q.name = 'test.free' and t.place = 'r'), 0::bigint, 'other workflows go on');
select alike(pawl.why((select w.run_id from pawl_data.lane_task w join pawl_data.queue q using (queue_id) where q.name = 'test.other' limit 1)),
    'Queued for %, and 4 of 4 are held (limit "stripe"), _ of them of workflow test.%; the oldest is held by web-3 for 0 s.', 'why names the limit, and who has most');
select pg_temp.done(:s, 'test.flow', 10), pg_temp.done(:s, 'test.other', 10) \g /dev/null
select is((select count(*) from pawl.claim(:s, 3)), 3::bigint, 'then others');
select pg_temp.done(:s, 'test.flow', 10), pg_temp.done(:s, 'test.other', 10) \g /dev/null
select pawl.alter_workflow('test.other', '{"limit": 2}') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 2::bigint, 'one workflow changes it for both');
select pawl.alter_workflow('test.other', '{"limit_name": null}') \g /dev/null
select is((select held_limit from pawl.list_workflows('test.other')), null, 'a workflow leaves it');
select is((select held_limit from pawl.list_workflows('test.flow')), 2, 'the other keeps it');
select pg_temp.done(:s, 'test.flow', 10), pg_temp.done(:s, 'test.other', 10) \g /dev/null
select pawl.alter_workflow('test.flow', '{"limit": null}') \g /dev/null
select is((select count(*) from pawl_data.held_limit), 0::bigint, 'a limit that nobody has is gone');
select is(t.work(:s) > 0, true, 'without it the rest is done');
select is((select count(*) from pawl_data.lane_task), 0::bigint, 'all of it');
-- Suspects.
select pawl.alter_workflow('test.flow', '{"limit": 1}') \g /dev/null
select run_id as r from pawl.trigger('test.flow') \gset
select pawl.trigger('test.flow') \g /dev/null
select pg_temp.claimed(:s) \g /dev/null
update pawl_data.task set place = 's', crashes = 3 where place = 'l';
delete from pawl_data.lane_task;
select t.session(name => 'quiet') as q \gset
select is((select count(*) from pawl.claim(:q, 1, quiet => true)), 0::bigint, 'a suspect waits for room, too');
select pg_temp.done(:s, 'test.flow', 10) \g /dev/null
select is((select count(*) from pawl.claim(:q, 1, quiet => true)), 1::bigint, 'and is claimed then');
-- A reader of one tenant is told that the limit is reached, and not by whom.
select run_id as r from pawl.trigger('test.flow', tenant => 'x') \gset
select 'll_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', 'reader', 'x') \g /dev/null
set session authorization :"bound";
select is(pawl.why(:'r'), 'Queued for 0 s: nothing is ahead of it without a limit key, and 1 of 1 are held (limit of workflow test.flow).', 'who is bound learns no name of a worker');
reset session authorization;
select alike(pawl.why(:'r'), 'Queued for 0 s: nothing is ahead of it without a limit key, and 1 of 1 are held (limit of workflow test.flow); the oldest is held by %', 'others do');
drop owned by :"bound";
drop role :"bound";
-- What is refused.
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit": 0}')$$, 'PW003', 'limit must be between 1 and 100000', 'none');
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit": 1, "limit_name": ""}')$$, 'PW003', 'limit_name must have 1 to 200 characters, and needs a limit', 'no name');
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit": null, "limit_name": "x"}')$$, 'PW003', null, 'a name without a limit');
select count(pawl.create_workflow('many.' || i)), count(pawl.alter_workflow('many.' || i, '{"limit": 5, "limit_name": "many"}')) from generate_series(1, 100) i \g /dev/null
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit_name": "many"}')$$, 'PW009', '100 workflows share limit "many"', 'one more than may share a limit');
select t.flow('a.flow', '[["a"]]') \g /dev/null
select throws_ok('select pawl.alter_workflow(''a.flow'', ''{"limit": 1}'')', 'PW003', '"a.flow" is a flow, which cannot have a limit', 'of a flow');
select * from finish();
