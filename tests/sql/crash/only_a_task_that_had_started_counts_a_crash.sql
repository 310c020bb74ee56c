-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s1 \gset
select t.session(lease => '1 day') as s2 \gset
select t.run() as a, t.run() as b \gset
select count(*) from pawl.claim(:s1, 1, start => true) \gset
select count(*) from pawl.claim(:s1, 1, start => false) \gset
select t.later('31 s') \g /dev/null
select is((select array_agg(crashes || ' ' || execution order by execution) from pawl_data.task), '{"0 0","1 1"}', 'one crash, for the one that had started');
select is((select string_agg(t.audit(run_id), '' ) from pawl_data.task), 'lease_lost', 'and one row in the audit');

select * from finish();
