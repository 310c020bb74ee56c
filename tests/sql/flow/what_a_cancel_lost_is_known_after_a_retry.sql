-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_flow('u.flow') as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select run_id as r from pawl.trigger('u.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select answer from pawl.cancel(array[:'r'::uuid]) \gset
select is(t.done(:s, :'r', 'book', '1'), 'cancelled', 'its record is refused');
select answer from pawl.retry(array[:'r'::uuid]) \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.done(:s, :'r', 'book', '1'), 'ok', 'in the next round it is taken');
select is((select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ', ') from pawl.get_run(:'r'), json_array_elements(steps) x), 'book SUCCESS', 'and is all there is');
select * from finish();
