-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('own.flow', max_attempts => 2, jitter => 0) \g /dev/null
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, 'own.flow') \gset
select is((select array_agg(value ->> 'delay_ms' order by n) from generate_series(1, 4) n,
    t.item(:s, :'r', :f, 'retry', 'a#1', '{}', '{"policy": {"max_attempts": 4, "base_ms": 70, "factor": 1, "cap_ms": 60, "jitter": 0}}', 0 * n)),
    array['60', '60', '60', null], 'its own base, factor, cap and number');
select is((select value ->> 'delay_ms' from t.item(:s, :'r', :f, 'retry', 'b#1', '{}', '{"policy": {"base_ms": 250}}', 2)), '250', 'what it does not say is the workflow''s');
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'b#1', '{}', '{"policy": {"base_ms": 250}}', 2)), 'true', 'like the number of attempts');

select * from finish();
