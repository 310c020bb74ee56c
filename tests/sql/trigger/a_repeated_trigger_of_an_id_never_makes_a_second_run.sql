-- SPDX-License-Identifier: Apache-2.0
select plan(10);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select pawl.make_id() as id \gset
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L)', :'id'), format('values (%L::uuid, true)', :'id'), 'the first');
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L)', :'id'), format('values (%L::uuid, false)', :'id'), 'while it waits');
select fence as f from t.one(:s) \gset
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L)', :'id'), format('values (%L::uuid, false)', :'id'), 'while it runs');
select is(t.answer(:s, :'id', :f, 'complete', null, '1'), 'ok', 'it ends');
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L)', :'id'), format('values (%L::uuid, false)', :'id'), 'after it has left the hot set');
select results_eq(format('select run_id, created from pawl.trigger_many(''a.flow'', array[''{"n": 1}'']::json[], ids => array[%L::uuid])', :'id'), format('values (%L::uuid, false)', :'id'), 'by trigger_many');
select is((select count(*) from pawl_data.task), 0::bigint, 'nothing waits');
select is_empty(format('select * from pawl.claim(%s)', :s), 'and nothing is claimed');
begin isolation level repeatable read;
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L)', :'id'), format('values (%L::uuid, false)', :'id'), 'in repeatable read');
commit;
select is(t.state(:'id'), 'SUCCESS', 'the run is as it was');

select * from finish();
