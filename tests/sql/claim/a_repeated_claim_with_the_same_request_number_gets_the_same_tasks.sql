-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select t.run(), t.run(), t.run() \g /dev/null
select array_agg(run_id || ':' || fence order by run_id) as first from pawl.claim(:s, 2, request => 1) \gset
select is((select array_agg(run_id || ':' || fence order by run_id) from pawl.claim(:s, 2, request => 1)), :'first'::text[], 'the same tasks with the same fences');
select is((select count(*) from pawl.claim(:s, 2, request => 2)), 1::bigint, 'another number: another task');
select is((select max(execution) from pawl.claim(:s, 2, request => 1)), 1, 'the repetition is no attempt');
select is((select count(*) from pawl.held(:s)), 3::bigint, 'three are held');

select * from finish();
