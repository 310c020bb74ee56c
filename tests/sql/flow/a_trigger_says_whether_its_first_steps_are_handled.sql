-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.flow('h.flow', '[["a"], ["b", "a"]]');
select is((select handled from pawl.trigger('h.flow', '1')), false, 'nobody');
select t.session('{h.flow/b}') as s \gset
select is((select handled from pawl.trigger('h.flow', '1')), false, 'not of the first step');
select t.session('{h.flow/*}') as s \gset
select is((select handled from pawl.trigger('h.flow', '1')), true, 'now');
select is((select bool_and(handled) from pawl.trigger_many('h.flow', array['1', '2']::json[])), true, 'many');
select pawl.alter_workflow('h.flow', '{"step_timeout": "7 s"}');
select is((select min(step_timeout_ms) from pawl.claim(:s, 1)), 7000::bigint, 'a new limit of the flow is one of its steps');
select * from finish();
