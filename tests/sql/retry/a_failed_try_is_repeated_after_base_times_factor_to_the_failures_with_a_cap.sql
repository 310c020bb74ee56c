-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select pawl.create_workflow('exact.flow', jitter => 0, max_attempts => 9, base => '1 s', factor => 3, cap => '20 s') \g /dev/null
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s, 'exact.flow') \gset
select is((select array_agg((value ->> 'delay_ms')::int order by n) from generate_series(1, 5) n, t.item(:s, :'r', :f, 'retry', 'a#1', '{}', null, 0 * n)),
    '{1000,3000,9000,20000,20000}', 'min(cap, base * factor ^ (n - 1))');

select * from finish();
