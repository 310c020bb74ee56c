-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select pawl.create_flow('map.flow') as c \gset
select pawl.add_step('map.flow', 'list') as c \gset
select pawl.add_step('map.flow', 'each', '{list}', '{"map": "list"}') as c \gset
select pawl.add_step('map.flow', 'sum', '{each}') as c \gset
select run_id as r from pawl.trigger('map.flow', '{"n": 3}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.done(:s, :'r', 'list', '["a", {"b": 1}, null]'), 'ok', 'a list');
select is((select string_agg(input::text, '; ' order by task) from pawl.claim(:s, 10)), '{"run" : {"n": 3}, "item" : "a", "index" : 0}; {"run" : {"n": 3}, "item" : {"b": 1}, "index" : 1}; {"run" : {"n": 3}, "item" : null, "index" : 2}', 'each gets its element and its place');
select is(t.done(:s, :'r', 'each', '30', 2), 'ok', 'the last one first');
select is(t.done(:s, :'r', 'each', '10', 0), 'ok', 'another');
select is((select missing from pawl_data.gate where step_no = 2), 1, 'one is missing');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'nothing else can start');
select is(t.done(:s, :'r', 'each', '20', 1), 'ok', 'the last');
select is((select input::jsonb ->> 'each' from pawl.claim(:s, 10)), '[10, 20, 30]', 'gathered in order');
select t.done(:s, :'r', 'sum', '60') \gset
select is((select output::jsonb::text from pawl.result(:'r')), '{"sum": 60}', 'and the run ends');
select * from finish();
