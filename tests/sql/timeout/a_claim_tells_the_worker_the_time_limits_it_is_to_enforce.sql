-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select pawl.create_workflow('limited.flow', run_timeout => '1 min', step_timeout => '1500 ms') \g /dev/null
select pawl.create_workflow('free.flow') \g /dev/null
select t.session() as s \gset
select t.run('limited.flow') as r \gset
select is((select step_timeout_ms from t.one(:s)), 1500::bigint, 'of each step');
select t.run('free.flow') as r \gset
select is((select step_timeout_ms is null and run_timeout_ms is null from t.one(:s)), true, 'none where there is none');

select * from finish();
