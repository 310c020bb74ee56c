-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select pawl.trigger_many('a.flow', array_fill('{}'::json, array[1000])) \g /dev/null
create temp table c as select run_id, fence, row_number() over () as n from pawl.claim(:s, 1000);
select is((select string_agg(distinct answer, ' ') || count(*) from (select array_agg(run_id order by n, g) r, array_agg(fence order by n, g) f, array_agg('s#' || g order by n, g) m, array_agg(g order by n, g) q from c, generate_series(1, 9) g) x,
    lateral pawl.commit(:s, r, f, array_fill('step'::text, array[9000]), m, array_fill('1'::text, array[9000]), q)), 'ok9000', 'nine thousand steps');
select is((select string_agg(distinct answer, ' ') || count(*) from (select array_agg(run_id) r, array_agg(fence) f from c) x,
    lateral pawl.commit(:s, r, f, array_fill('complete'::text, array[1000]), payloads => array_fill('1'::text, array[1000]))), 'ok1000', 'a thousand ends');
select is((select count(*) from pawl_data.run where status = 's') + (select count(*) from pawl_data.step), 10000::bigint, 'all are there');

select * from finish();
