-- SPDX-License-Identifier: Apache-2.0
select plan(1);
set timezone to 'UTC';
select t.stop_clock();
select run_id as r from pawl.create_workflow('test.flow'), lateral pawl.trigger('test.flow', delay => '90 s') \gset
select is(pawl.why(:'r'), format('Scheduled to start at %s (in 90 s).', to_char(pawl.now() + interval '90 s', 'YYYY-MM-DD HH24:MI:SS')), 'exactly');
select * from finish();
