-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select pawl.create_workflow('many.q' || n) from generate_series(1, 50) n \g /dev/null
select t.session('{many.*}') as s \gset
select t.run('many.q' || n) from unnest('{1,17,50}'::int[]) n \g /dev/null
select is((select array_agg(workflow order by workflow) from pawl.claim(:s, 50)), '{many.q1,many.q17,many.q50}', 'in one call');
select t.run('other.q') \g /dev/null
select is((select count(*) from pawl.claim(:s, 50)), 0::bigint, 'what it does not handle is left');

select * from finish();
