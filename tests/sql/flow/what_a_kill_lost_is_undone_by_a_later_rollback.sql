-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session('{u.flow/book}') as b \gset
select t.session('{u.flow/map}') as m \gset
select t.session('{u.flow,u.flow/other}') as other \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select pawl.add_step('u.flow', 'other', '{}', '{"undo": "unother"}') as c \gset
select pawl.add_step('u.flow', 'map', '{}', '{"undo": "unmap", "map": "run"}') as c \gset
select run_id as r from pawl.trigger('u.flow', '[1, 2]') \gset
select task as one from pawl.claim(:b, 1) \gset
select task as two from pawl.claim(:m, 1) \gset
select is(:one || ' ' || :two, '1000000 3000001', 'two of four tasks have started');
select is((select answer from pawl.kill(array[:'r'::uuid])), 'ok', 'when the run is killed');
select is((select status || ' ' || (error ->> 'code') from pawl.result(:'r')), 'CANCELLED killed', 'it ends without a rollback');
select is((select count(*) from pawl_data.task), 0::bigint, 'no task is left');
select is(t.done(:b, :'r', 'book', '1', fence => 1), 'cancelled', 'and nothing more is recorded');
-- In the next round neither of them has started when another fails.
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'it is tried again');
select count(*) from pawl.claim(:other, 10) \gset
select is(t.failed(:other, :'r', 'other', '"no"'), 'ok', 'and fails');
select is((select string_agg((u ->> 'name') || ' ' || (u ->> 'uncertain'), ', ') from pawl.claim(:other, 10), json_array_elements(record -> 'undos') u),
    'map#1 true, other#1 true, book#1 true', 'what had started in either round is undone');
select * from finish();
