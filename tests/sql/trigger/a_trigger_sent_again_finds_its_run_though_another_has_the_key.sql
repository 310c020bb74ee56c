-- SPDX-License-Identifier: Apache-2.0
-- The reply is lost, the run ends and frees its key, somebody else takes it: the call is sent again, and is answered with its run.
select plan(7);
select t.session() as s \gset
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.make_id() as x \gset
select is((select created from pawl.trigger('test.flow', '{"n": 1}', key => 'k', id => :'x', key_while_active => true)), true, 'a run');
select fence as f from t.one(:s) \gset
select t.answer(:s, :'x', :f, 'complete', null, '1') \g /dev/null
select run_id as y from pawl.trigger('test.flow', '{"n": 2}', key => 'k', key_while_active => true) \gset
select isnt(:'y'::text, :'x', 'another has the key');
select is((select row(run_id, created)::text from pawl.trigger('test.flow', '{"n": 2}', key => 'k', id => :'x', key_while_active => true)), row(:'x'::uuid, false)::text, 'sent again, it is the same run');
select is((select row(run_id, created)::text from pawl.trigger('test.flow', '{"n": 1}', key => 'k', id => :'x', key_while_active => true)), row(:'x'::uuid, false)::text, 'whatever the input of the other');
select is((select row(run_id, created)::text from pawl.trigger_many('test.flow', array['{"n": 1}']::json[], keys => array['k'], ids => array[:'x']::uuid[], key_while_active => true)), row(:'x'::uuid, false)::text, 'also with others');
select is((select run_id from pawl.trigger('test.flow', '{"n": 2}', key => 'k', key_while_active => true)), :'y', 'the other has its key still');
select throws_ok(format('select pawl.trigger(''test.flow'', ''{"n": 3}'', key => ''k'', id => %L)', pawl.make_id()), 'PW004', null, 'a new call with another input is refused');
select * from finish();
