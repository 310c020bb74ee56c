-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r from pawl.create_workflow('test.flow'), lateral pawl.trigger('test.flow', delay => '1 hour') \gset
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is(t.state(:'r'), 'PAUSED delay', 'still delayed');
select t.later('1 hour', :s);
select is(t.state(:'r'), 'QUEUED', 'and due at its time');
select * from finish();
