-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
begin isolation level repeatable read;
select is((select created from pawl.trigger('test.flow')), true, 'trigger at repeatable read');
select is((select created from pawl.trigger('test.flow', key => 'k')), true, 'trigger with a key at repeatable read');
select is((select created from pawl.trigger('test.flow', id => pawl.make_id())), true, 'trigger with an id at repeatable read');
select is((select count(*) from pawl.trigger_many('test.flow', array['1', '2']::json[])), 2::bigint, 'trigger_many at repeatable read');
select is((select answer from pawl.emit('x')), 'ok', 'emit at repeatable read');
select is(pawl.signal(:'r', 'go'), 'stored', 'signal at repeatable read');
select is(pawl.approve(:'r', 'go'), 'stored', 'approve at repeatable read');
select is(pawl.record_step(pawl.step_token(:s, :'r', :f, 'one'), '1'), 'ok', 'record_step at repeatable read');
commit;
begin isolation level serializable;
select is((select created from pawl.trigger('test.flow')), true, 'trigger at serializable');
select is((select created from pawl.trigger('test.flow', key => 'k')), false, 'trigger with a key at serializable');
select is((select count(*) from pawl.trigger_many('test.flow', array['1', '2']::json[], array['a', 'b'])), 2::bigint, 'trigger_many at serializable');
select is((select answer from pawl.emit('x')), 'ok', 'emit at serializable');
select is(pawl.signal(:'r', 'go'), 'stored', 'signal at serializable');
select is(pawl.record_step(pawl.step_token(:s, :'r', :f, 'two'), '1'), 'ok', 'record_step at serializable');
commit;
select is((select string_agg(name, ' ' order by name) from pawl_data.step), 'one#1 two#1', 'both steps are recorded');
select * from finish();
