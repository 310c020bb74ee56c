-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.stop_clock();
select pawl.create_workflow('test.flow') as c \gset
select run_id as r from pawl.trigger('test.flow', key => 'k', key_ttl => '1 min') \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'ended');
select pawl.test_clock_advance('2 min') as x \gset
select run_id as r2 from pawl.trigger('test.flow', key => 'k', key_ttl => '1 hour') \gset
select isnt(:'r2'::text, :'r', 'the time of the key is over, another run has it');
select is((select answer from pawl.purge(array[:'r'::uuid])), 'ok', 'the first is purged');
select is((select run_id::text || created from pawl.trigger('test.flow', key => 'k')), :'r2' || 'false', 'the key still stands for the second');
select * from finish();
