-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select run_id as r from pawl.create_workflow('test.flow'), lateral pawl.trigger('test.flow', key => 'k', key_while_active => true) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select is((select created from pawl.trigger('test.flow', key => 'k', key_while_active => true)), true, 'the key is free');
select run_id as r2 from pawl.trigger('test.flow', key => 'k2') \gset
select is((select answer from pawl.cancel(array[:'r2'::uuid])), 'ok', 'cancelled');
select is((select run_id::text || created from pawl.trigger('test.flow', key => 'k2')), :'r2' || 'false', 'a plain key is kept as long as the run');
select * from finish();
