-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select pawl.create_flow('map.flow') as c \gset
select pawl.add_step('map.flow', 'each', '{}', '{"map": "run"}') as c \gset
select run_id as r from pawl.trigger('map.flow', '[7, 8]') \gset
select is((select string_agg(input ->> 'item', ' ' order by task) from pawl.claim(:s, 10)), '7 8', 'the elements of the input');
select t.done(:s, :'r', 'each', '70', 0) as a, t.done(:s, :'r', 'each', '80', 1) as b \gset
select is((select output::jsonb::text from pawl.result(:'r')), '{"each": [70, 80]}', 'a map as the last step');
select run_id as r from pawl.trigger('map.flow', '[]') \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"each": []}', 'a map of nothing is done at once');
select run_id as r from pawl.trigger('map.flow', '{"no": "array"}') \gset
select is((select status || ': ' || (error ->> 'message') from pawl.result(:'r')), 'ERROR: step each maps over the input of the run, which is not an array', 'a map of no array is an error');
select * from finish();
