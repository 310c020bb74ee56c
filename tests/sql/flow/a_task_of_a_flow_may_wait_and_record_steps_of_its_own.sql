-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select t.flow('w.flow', '[["a"], ["ask"]]');
select run_id as r from pawl.trigger('w.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is((select answer from pawl.step(:s, :'r', 1, 'inner', '7', 2000000)), 'ok', 'a step inside of a step');
select is((select answer from pawl.wait_signal(:s, :'r', 1, 'ok', null, 2000000)), 'ok', 'it waits for a signal');
select t.done(:s, :'r', 'a', '1') as c \gset
select is(t.state(:'r'), 'PAUSED signal', 'and so does the run');
select matches(pawl.why(:'r'), 'Step ask: waiting for signal ok', 'why');
select is(pawl.signal(:'r', 'ok', '"yes"'), 'taken', 'it comes');
select is((select string_agg((x ->> 'name') || ' ' || (x ->> 'output'), ', ' order by n) from pawl.claim(:s, 10), json_array_elements(record -> 'steps') with ordinality y (x, n)), 'inner#1 7, ok#1 yes', 'the task goes on with its own records');
select t.done(:s, :'r', 'ask', '2') as c \gset
select is((select output::jsonb::text from pawl.result(:'r')), '{"a": 1, "ask": 2}', 'done');
select is((select string_agg(x ->> 'name', ' ' order by n) from pawl.get_run(:'r'), json_array_elements(steps) with ordinality y (x, n)), 'a ask/inner#1 ask ask/ok#1', 'shown with their step');
select * from finish();
