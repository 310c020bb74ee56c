-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.limited('test.flow', 1) \g /dev/null
select t.session() as s \gset
select count(*) from generate_series(1, 9) i, lateral pawl.trigger('test.flow', to_json(i), limit_key => 'a') \gset
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'one');
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'it is full');
select pawl.alter_workflow('test.flow', '{"key_limit": 5}') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 4::bigint, 'raised: four more at once');
select pawl.alter_workflow('test.flow', '{"key_limit": 3}') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'lowered: nothing starts');
select is((select count(*) from pawl_data.task where place = 'h'), 5::bigint, 'and nothing is taken back');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' limit 2) h, lateral pawl.complete(:s, run_id, fence) \gset
select is((select count(*) from pawl.claim(:s, 100)), 0::bigint, 'two ended, three are held');
select count(*) from (select run_id, fence from pawl_data.task where place = 'h' limit 1) h, lateral pawl.complete(:s, run_id, fence) \gset
select is((select count(*) from pawl.claim(:s, 100)), 1::bigint, 'one more ended');
select pawl.alter_workflow('test.flow', '{"key_limit": null}') \g /dev/null
select is((select count(*) from pawl.claim(:s, 100)), 3::bigint, 'without a limit all the others');
select is(t.work(:s), 0, 'nothing is left');
select is(t.lane_faults(), 'none', 'lanes fit');
-- The first limit, while a worker holds runs.
select pawl.create_workflow('test.first'), t.session('{test.first}') as h \gset
select count(*) from generate_series(1, 6) i, lateral pawl.trigger('test.first', to_json(i), limit_key => 'k') \g /dev/null
select is((select count(*) from pawl.claim(:h, 3)), 3::bigint, 'without a limit');
select pawl.alter_workflow('test.first', '{"key_limit": 1}') \g /dev/null
select is((select count(*) from pawl.claim(:h, 3)), 1::bigint, 'runs that were held before do not count');
select is((select count(*) from pawl.claim(:h, 3)), 0::bigint, 'later ones do');
select * from finish();
