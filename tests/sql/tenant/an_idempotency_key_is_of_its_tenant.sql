-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select pawl.create_workflow('test.flow') \gset
select run_id as a from pawl.trigger('test.flow', '1', key => 'k', tenant => 'a') \gset
select run_id as b from pawl.trigger('test.flow', '2', key => 'k', tenant => 'b') \gset
select isnt(:'a'::text, :'b', 'two tenants, two runs, and the inputs may differ');
select is((select run_id::text from pawl.trigger('test.flow', '1', key => 'k', tenant => 'a')), :'a', 'each finds its own');
select is((select created from pawl.trigger('test.flow', '3', key => 'k')), true, 'and so does no tenant');
select throws_ok($$select * from pawl.trigger('test.flow', '9', key => 'k', tenant => 'a')$$, 'PW004', null, 'another input is a conflict within the tenant');
select * from finish();
