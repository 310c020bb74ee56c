-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session(lease => '5 s') as s \gset
select pawl.create_workflow('test.flow') \gset
select count(*) as n from pawl.claim(:s) \gset
select pawl.rest(:s) \gset
select is((select handled from pawl.trigger('test.flow')), true, 'handled while the lease is live');
select pawl.test_clock_advance('6 s') \gset
select is((select handled from pawl.trigger('test.flow')), false, 'not when it is over');
select * from finish();
