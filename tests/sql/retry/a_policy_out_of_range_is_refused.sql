-- SPDX-License-Identifier: Apache-2.0
select plan(10);

select throws_ok($$select pawl.create_workflow('w', max_attempts => 0)$$, 'PW003', null, 'no attempts');
select throws_ok($$select pawl.create_workflow('w', base => '-1 s')$$, 'PW003', null, 'a negative base');
select throws_ok($$select pawl.create_workflow('w', factor => 0.5)$$, 'PW003', null, 'a factor under one');
select throws_ok($$select pawl.create_workflow('w', factor => 'NaN')$$, 'PW003', null, 'a factor that is no number');
select throws_ok($$select pawl.create_workflow('w', factor => 'infinity')$$, 'PW003', null, 'an infinite factor');
select throws_ok($$select pawl.create_workflow('w', jitter => 1.1)$$, 'PW003', null, 'too much jitter');
select throws_ok($$select pawl.create_workflow('w', jitter => 'NaN')$$, 'PW003', null, 'jitter that is no number');
select throws_ok($$select pawl.create_workflow('w', cap => '200000 years')$$, 'PW003', null, 'a cap past the end of time');
select throws_ok($$select pawl.create_workflow('w', max_attempts => null)$$, 'PW003', null, 'null attempts');
select is((select count(*) from pawl_data.workflow), 0::bigint, 'nothing was created');

select * from finish();
