-- SPDX-License-Identifier: Apache-2.0
-- A lane without a limit is not held by the claim that visits it; a lane with one is, and claims look past it.
select plan(16);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"fair": true}') \g /dev/null
select t.session() as s \gset
select t.session() as o \gset
set lock_timeout to '10s';
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[9]), tenant => 'a') \gset
select t.other_holds(format('select count(*)::text from pawl.claim(%s, 4)', :o)) \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 5::bigint, 'the tasks that an open claim of one tenant has left');
select is((select ready from pawl.rest(:s)), true, 'what it has taken is not given up');
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'nor taken twice');
select t.other_done() \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 4::bigint, 'when it has rolled back the others are found');
select is(t.lane_faults(), 'none', 'lanes fit');
-- Tenant a is locked for long, and b has tasks for every claim.
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[60]), tenant => 'a') \gset
select t.other_holds(format('select count(*)::text from pawl.claim(%s, 1)', :o)) \g /dev/null
select count(*) from pawl.trigger_many('test.flow', array_fill('{}'::json, array[400]), tenant => 'b') \gset
select t.later('3 s', :s) \g /dev/null
create table got (tenant text);
select lives_ok(format('insert into got select c.tenant from generate_series(1, 200) i, lateral pawl.claim(%s, least(i, 1)) c', :s), 'claims do not wait');
select ok((select count(*) > 0 from got where tenant = 'a'), 'a tenant whose lane is locked is served now and then');
select ok((select count(*) > 0 from pawl_data.lane_delta where kind = 'd'), 'which counts');
select t.other_done() \g /dev/null
-- Lanes with a limit: a bound worker of tenant z stays in its claim of all its keys.
select pawl.alter_workflow('test.flow', '{"key_limit": 1}') \g /dev/null
select pawl.kill(array_agg(run_id)) from pawl_data.task \g /dev/null
select count(*) from (select count(*) from generate_series(1, 20) i, lateral pawl.claim(:s, least(i, 1))) x \g /dev/null
update pawl_data.worker set tenant = 'z' where session_id = :o;
select count(*) from generate_series(1, 40) i, lateral pawl.trigger('test.flow', to_json(i), tenant => 'z', limit_key => 'k' || i) \gset
-- Each key has a row, in the rotation.
update pawl_data.lane set state = 'e' where tenant <> 'z';
insert into pawl_data.lane (queue_id, lane, tenant, limit_key, state, turn, turned_at)
select distinct t.queue_id, t.lane, t.tenant, t.limit_key, 'r'::"char", 0, pawl.now() from pawl_data.task t where t.place = 'l' and t.tenant = 'z';
delete from pawl_data.lane_delta;
select t.other_holds(format('select count(*)::text from pawl.claim(%s, 40)', :o)) \g /dev/null
insert into pawl_data.lane (queue_id, lane, tenant, limit_key, state, turn, turned_at)
select queue_id, pawl._lane_of('y', null), 'y', null, 'r', 1000000, pawl.now() from pawl_data.queue where name = 'test.flow';
select run_id as y from pawl.trigger('test.flow', tenant => 'y') \gset
delete from pawl_data.lane_delta;
select is((select run_id from pawl.claim(:s, 1)), :'y'::uuid, 'a claim finds the lane after forty that are locked');
select t.other_done() \g /dev/null
select is((select count(*) from pawl.claim(:o, 100)), 40::bigint, 'those are claimed afterwards');
select is(t.lane_faults(), 'none', 'lanes fit');
-- A trigger that has seen a lane in the rotation commits when the lane has left it.
select pawl.kill(array_agg(run_id)) from pawl_data.task \g /dev/null
select count(*) from generate_series(1, 10) i, lateral pawl.claim(:s, i * 10) \g /dev/null
select is((select ready from pawl.rest(:s)), false, 'nothing is to be claimed');
select run_id as l from pawl.trigger('test.flow', tenant => 'late') \gset
update pawl_data.lane_delta set kind = 'b' where lane = pawl._lane_of('late', null);
select is((select ready from pawl.rest(:s)), true, 'its delta is something to claim');
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'its delta leads a claim to it');
select pawl.kill(array_agg(run_id)) from pawl_data.task \g /dev/null
select run_id as l from pawl.trigger('test.flow', tenant => 'late') \gset
update pawl_data.lane set state = 'e' where tenant = 'late';
delete from pawl_data.lane_delta;
update pawl_data.chore set due_at = '-infinity' where chore in ('lanes', 'lines');
select pawl.housekeep() \g /dev/null
select is((select run_id from pawl.claim(:s, 100)), :'l'::uuid, 'housekeeping finds it without');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
