-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select t.limited('test.flow', 2) \g /dev/null
select t.session() as s \gset
select t.session() as o \gset
-- Against a hang.
set statement_timeout to '100s';
select count(*) from generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'a') \gset
select t.other_holds(format('select count(*)::text from pawl.claim(%s, 1)', :o)) \g /dev/null
select lives_ok(format('select * from pawl.claim(%s, 10)', :s), 'a claim of the same lane, whose row the other has made, does not wait');
select is((select count(*) from pawl_data.task where place = 'h'), 0::bigint, 'it gets nothing of it');
-- By another delta than the one that the other claim has found.
insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key) select queue_id, lane, 'f', tenant, limit_key from pawl_data.lane_task join pawl_data.task using (queue_id, lane, run_id) limit 1;
select clock_timestamp() as began \gset
select count(*) from pawl.claim(:s, 10) \gset
select ok(clock_timestamp() < :'began'::timestamptz + interval '15 s', 'nor for longer than a moment if it tries to make the row itself');
select lives_ok('select * from pawl.trigger(''test.flow'', limit_key => ''a'')', 'a trigger does not wait');
select is((select count(*) from pawl.trigger('test.flow', limit_key => 'b'), lateral pawl.claim(:s, 10)), 1::bigint, 'another lane is open');
select t.other_done() \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'when it has rolled back, the lane gives two');
select run_id as r, fence as f from pawl_data.task where place = 'h' and limit_key = 'a' limit 1 \gset
-- An end that is not committed counts as held, and makes nobody wait.
select t.other_holds(format('select answer from pawl.complete(%s, %L, %s)', :s, :'r', :f)) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'an end that is not committed makes no room');
select t.other_done() \g /dev/null
select answer from pawl.complete(:s, :'r', :f) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'when it is, it does');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'for one');
select is(t.lane_faults(), 'none', 'lanes fit');
-- Tasks of the time before the limit are not in line yet.
select pawl.create_workflow('test.old') \g /dev/null
select count(*) from generate_series(1, 60) n, lateral pawl.trigger('test.old', limit_key => 'k' || n) \g /dev/null
select pawl.alter_workflow('test.old', '{"key_limit": 1}') \g /dev/null
select t.session(array['test.old']) as s \gset
select t.session(array['test.old']) as o \gset
select t.other_holds(format('select count(*)::text from pawl.claim(%s, 1)', :o)) \g /dev/null
select is((select count(*) from pawl.claim(:s, 40)), 40::bigint, 'a claim that takes one leaves the others to others');
select t.other_done() \g /dev/null
select is((select count(*) from pawl.claim(:s, 40)), 20::bigint, 'when it has rolled back, the rest');
-- Many of a full lane in front.
select t.limited('test.full', 1) \g /dev/null
select t.session(array['test.full']) as s \gset
select is((select count(*) from pawl.trigger('test.full', limit_key => 'a'), lateral pawl.claim(:s, 1)), 1::bigint, 'a lane is full');
-- As triggers that began before the limit was set.
update pawl_data.workflow set laned = false where name = 'test.full';
select count(*) from generate_series(1, 60) n, lateral pawl.trigger('test.full', to_json(n), limit_key => 'a') \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select run_id as r from pawl.trigger('test.full', limit_key => 'b') \gset
update pawl_data.workflow set laned = true where name = 'test.full';
select is((select count(*) from pawl_data.task where place = 'r'), 61::bigint, 'many tasks of it come first');
select is((select string_agg(run_id::text, ' ') from pawl.claim(:s, 1)), :'r', 'one claim gets behind them');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
