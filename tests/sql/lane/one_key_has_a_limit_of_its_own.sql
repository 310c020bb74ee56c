-- SPDX-License-Identifier: Apache-2.0
select plan(25);
select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select t.session(name => 'web-3') as s \gset
-- In a workflow without any limit: runs come to lanes from the first setting on.
select count(*) from generate_series(1, 4) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'noisy') \gset
select is(pawl.set_lane('test.flow', 'noisy', 2, why => 'the partner asked', by => 'ada'), 'ok', 'a key gets a limit');
select is(pawl.set_lane('test.flow', 'noisy', 2), 'already', 'once');
select count(*) from generate_series(1, 2) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'noisy') \gset
select count(*) from generate_series(1, 4) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'other') \gset
select is((select string_agg(format('%s=%s', limit_key, n), ' ' order by limit_key) from (select t.limit_key, count(*) as n from pawl.claim(:s, 100) c join pawl_data.task t using (run_id) group by 1) c),
    'noisy=2 other=4', 'two of the key, and all of the other');
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'it is full');
select t.later('90 s', :s) \g /dev/null
select alike(pawl.why((select run_id from pawl_data.lane_task order by due_at desc limit 1)), 'Queued for 90 s: % ahead of it with limit key "noisy", and 2 of 2 are held (ada has set this limit); the oldest is held by web-3 for 90 s.', 'why names who has set the limit');
select results_eq('select limit_key, tenant, waiting, held, key_limit, weight, oldest_waiting, paused, reason, set_by, set_why from pawl.list_lanes(''test.flow'') order by limit_key',
    $$values ('noisy', '', 4::bigint, 2::bigint, 2, 1, interval '90 s', false, '2 of 2 are held (ada has set this limit); the oldest is held by web-3 for 90 s', 'ada', 'the partner asked'),
             ('other', '', 0, 4, null, 1, null, false, null, null, null)$$, 'the list has both lanes');
select is((select count(*) from pawl.list_lanes('test.flow', only_key => 'noisy')), 1::bigint, 'or one');
select is((select count(*) from pawl.list_lanes('test.flow', only_key => 'unknown')), 0::bigint, 'or none');
select is((select array_agg(limit_key order by limit_key) from (select (pawl.list_lanes('test.flow', cursor => n.next_cursor, max_rows => 1)).limit_key from pawl.list_lanes('test.flow', max_rows => 1) n union all select limit_key from pawl.list_lanes('test.flow', max_rows => 1)) p),
    '{noisy,other}', 'page by page');
-- Raised, and given up.
select is(pawl.set_lane('test.flow', 'noisy', 3), 'ok', 'the limit is raised');
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'which opens the lane at once');
select is(t.lane_faults(), 'none', 'lanes fit');
select pawl.alter_workflow('test.flow', '{"key_limit": 4}') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'the limit of the workflow does not count for this key');
select is(pawl.set_lane('test.flow', 'noisy'), 'ok', 'until its own is given up');
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'then it does');
select is((select count(*) from pawl_data.lane_setting), 0::bigint, 'nothing is set');
select is(pawl.set_lane('test.flow', null, 1), 'ok', 'runs without a key are a lane, too');
select count(*) from generate_series(1, 3) i, lateral pawl.trigger('test.flow', to_json(i)) \gset
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'one of them');
select is((select string_agg(what || ' ' || who || ' ' || detail, '; ' order by action_no) from pawl.list_actions() where what = 'set_lane' and who = 'ada'),
    'set_lane ada {"workflow" : "test.flow", "limit_key" : "noisy", "tenant" : "", "key_limit" : 2, "weight" : null, "key_rate" : null, "key_burst" : null, "why" : "the partner asked"}', 'the log has it');
select throws_ok('select pawl.set_lane(''test.flow'', ''x'', 0)', 'PW003', 'key_limit must be between 1 and 100000', 'no limit of 0');
select throws_ok('select pawl.set_lane(''nowhere'', ''x'', 1)', 'PW002', null, 'nor of an unknown workflow');
select t.flow('a.flow', '[["a"]]') \g /dev/null
select throws_ok('select pawl.set_lane(''a.flow'', ''x'', 1)', 'PW003', '"a.flow" is a flow, which has no lanes', 'nor of a flow');
insert into pawl_data.lane_setting (queue_id, lane, tenant, limit_key, key_limit)
select q.queue_id, pawl._lane_of('', 'many' || i), '', 'many' || i, 5 from pawl_data.queue q, generate_series(1, 9999) i where q.name = 'test.flow';
select throws_ok('select pawl.set_lane(''test.flow'', ''x'', 1)', 'PW009', null, 'nor for any number of keys');
select lives_ok('select pawl.set_lane(''test.flow'', ''many1'', 1)', 'one that is there can change');
select is(t.lane_faults(), 'none', 'lanes fit afterwards');
select * from finish();
