-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select pawl.create_workflow('plain.flow') \g /dev/null
select results_eq($$select max_attempts, base, factor, cap, jitter from pawl_data.workflow$$,
    $$values (5, interval '1 s', 2::float8, interval '10 min', 0.2::float8)$$, 'as the contract says');

select * from finish();
