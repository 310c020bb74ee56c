-- SPDX-License-Identifier: Apache-2.0
-- Each call that triggers leaves a delta in each lane. Those that no claim has seen are removed by the claims that visit the lane, a bounded number in each.
select plan(4);
select pawl.create_workflow('test.flow') \g /dev/null
select pawl.alter_workflow('test.flow', '{"fair": true}') \g /dev/null
select t.session(lease => '1 day') as s \gset
select count(*) from generate_series(1, 200) n, lateral pawl.trigger_many('test.flow', array_fill(to_json(n), array[50]), limit_keys => array(select 'k' || k from generate_series(1, 50) k)) \g /dev/null
select count(*) as before from pawl_data.lane_delta \gset
select cmp_ok(:before, '>=', 10000, 'two hundred deltas in each of fifty lanes');
select is((select count(*) from pawl.claim(:s, 100)), 100::bigint, 'a claim takes a hundred of these runs');
select cmp_ok(:before - (select count(*) from pawl_data.lane_delta), '<=', 1100::bigint, 'and removes not many more than a thousand');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
