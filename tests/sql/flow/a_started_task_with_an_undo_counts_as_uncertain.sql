-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session('{u.flow/book}') as s \gset
select t.session() as other \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select pawl.add_step('u.flow', 'other', '{}', '{"undo": "unother"}') as c \gset
select run_id as r from pawl.trigger('u.flow', '{}') \gset
select count(*) from pawl.claim(:s, 1) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid], 'stop', true)), 'ok', 'one has started, one has not');
select t.done(:s, :'r', 'book', '1') as a \gset
select is(:'a'::text, 'cancelled', 'its record is refused');
select is((select string_agg((u ->> 'name') || ' ' || (u ->> 'uncertain'), ', ') from pawl.claim(:other, 10), json_array_elements(record -> 'undos') u), 'book#1 true', 'so it is undone, and its undo is told');
select * from finish();
