-- SPDX-License-Identifier: Apache-2.0
-- 1e999999 is JSON, and no value of the database: a step that succeeded was recorded as failed because of it.
select plan(4);
select t.session() as s \gset
select pawl.create_flow('huge.flow') \gset
select pawl.add_step('huge.flow', 'a') \gset
select pawl.add_step('huge.flow', 'b', '{a}', '{"condition": {"/run/x": 1}}') \gset
select pawl.add_step('huge.flow', 'c', '{a}', '{"condition": {"/run/y": 2}}') \gset
select run_id as r from pawl.trigger('huge.flow', '{"x": 1e999999, "y": 2, "z": "\u0000"}') \gset
select task, fence from pawl.claim(:s) \gset
select is((select answer from pawl.complete(:s, :'r', :fence, '1', :task)), 'ok', 'the step is recorded');
select is((select workflow from pawl.claim(:s, 10)), 'huge.flow/c', 'the step whose condition is met starts');
select is((select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ', ' order by x ->> 'name') from pawl.get_run(:'r'), json_array_elements(steps) x where x ->> 'state' = 'SKIPPED'), 'b SKIPPED', 'the step whose condition asks for the number is skipped');
select t.done(:s, :'r', 'c', '1') \gset
select is((select status from pawl.result(:'r')), 'SUCCESS', 'the run succeeds');
select * from finish();
