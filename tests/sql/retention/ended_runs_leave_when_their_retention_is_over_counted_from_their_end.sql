-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select pawl.create_workflow('test.flow') \gset
select run_id as r from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'k') \gset
select fence as f from t.one(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'one#1', 'payload', '1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'note', 'payload', 'hello'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'))), 'ok ok ok', 'a run');
select pawl.test_clock_advance('13 days 23 hours') \gset
do $$ begin for i in 1..30 loop perform t.later('2 s'); end loop; end $$;
select is(t.state(:'r'), 'SUCCESS', 'within fourteen days it is there');
select is((select run_id::text from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'k')), :'r', 'and its key stands for it');
select pawl.test_clock_advance('3 days') \gset
do $$ begin for i in 1..90 loop perform t.later('70 s'); end loop; end $$;
select throws_ok(format('select * from pawl.get_run(%L)', :'r'), 'PW001', null, 'after that it is gone');
select is((select (select count(*) from pawl_data.run) + (select count(*) from pawl_data.step) + (select count(*) from pawl_data.note) + (select count(*) from pawl_data.input)), 0::bigint, 'with all that was recorded of it');
select is((select count(*) from pawl_data.key), 0::bigint, 'and its key is free');
select is((select created from pawl.trigger('test.flow', key => 'k')), true, 'for another run');
select * from finish();
