-- SPDX-License-Identifier: Apache-2.0
select plan(1);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select pawl.trigger('a.flow', to_json(p), priority => p) from unnest('{9,3,7,1,8,2,6,4,5,0}'::int[]) p \g /dev/null
select is((select array_agg(input::text::int order by input::text::int) from pawl.claim(:s, 4)), '{0,1,2,3}', 'four of ten');

select * from finish();
