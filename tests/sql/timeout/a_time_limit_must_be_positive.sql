-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select throws_ok($$select pawl.create_workflow('w', run_timeout => '0')$$, 'PW003', null, 'none at all');
select throws_ok($$select pawl.create_workflow('w', run_timeout => '-1 s')$$, 'PW003', null, 'negative');
select throws_ok($$select pawl.create_workflow('w', step_timeout => '-1 s')$$, 'PW003', null, 'of a step');
select pawl.create_workflow('w') \g /dev/null
select throws_ok($$select pawl.alter_workflow('w', '{"run_timeout": "-1 s"}')$$, 'PW003', null, 'by alter_workflow');

select * from finish();
