-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select pawl.create_flow('u.flow', max_attempts => 1) as c \gset
select pawl.add_step('u.flow', 'book', '{}', '{"undo": "unbook"}') as c \gset
select pawl.add_step('u.flow', 'each', '{book}', '{"map": "book", "undo": "uneach"}') as c \gset
select pawl.add_step('u.flow', 'pay', '{each}') as c \gset
select run_id as r from pawl.trigger('u.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'book', '[1, 2]') as c \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'each', '10', 0) as c \gset
select t.done(:s, :'r', 'each', '20', 1) as c \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'r', 'pay', '{"message": "no money"}'), 'ok', 'the last step fails');
select run_id, task, fence, workflow, rolling_back, record from pawl.claim(:s, 10) \gset
select is(:'workflow' || ' ' || :'rolling_back', 'u.flow t', 'a worker of the flow rolls it back');
select is((select string_agg((u ->> 'name') || ' ' || (u -> 'undo' ->> 'handler') || ' ' || (u ->> 'output'), ', ' order by n) from json_array_elements(:'record'::json -> 'undos') with ordinality x (u, n)), 'each#2 uneach 20, each#1 uneach 10, book#1 unbook [1, 2]', 'the undos, last first');
select is((select string_agg(answer, ' ') from pawl.commit(:s, array[:'r', :'r', :'r']::uuid[], array[:fence, :fence, :fence], '{step,step,step}', '{rollback:each#2,rollback:each#1,rollback:book#1}', '{1,1,1}')), 'ok ok ok', 'undone');
select is((select answer from pawl.complete(:s, :'r', :fence)), 'ok', 'all');
select is((select status || ': ' || (error ->> 'message') from pawl.result(:'r')), 'ERROR: step pay#1 failed: no money', 'the run ends with its own error');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'refused', 'no retry once an undo has run');
select * from finish();
