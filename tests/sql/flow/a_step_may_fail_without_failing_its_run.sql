-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
create function t.states(run uuid) returns text language sql as $$
    select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ', ' order by x ->> 'name') from pawl.get_run(run) g, json_array_elements(g.steps) x
$$;
-- skip: its dependents are given null. skip_all: they are skipped, too.
select pawl.create_flow('soft.flow', max_attempts => 1) as c \gset
select pawl.add_step('soft.flow', 'a', '{}', '{"failed": "skip"}') as c \gset
select pawl.add_step('soft.flow', 'b', '{a}') as c \gset
select pawl.add_step('soft.flow', 'c', '{}', '{"failed": "skip_all"}') as c \gset
select pawl.add_step('soft.flow', 'd', '{c}') as c \gset
select pawl.add_step('soft.flow', 'e', '{b,d}') as c \gset
select run_id as r from pawl.trigger('soft.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'a', '"no a"') as c \gset
select t.failed(:s, :'r', 'c', '"no c"') as c \gset
select is((select string_agg(workflow || ' ' || coalesce(input ->> 'a', '-'), ', ') from pawl.claim(:s, 10)), 'soft.flow/b -', 'what depends on the first is given null');
select is(t.states(:'r'), 'a SKIPPED, b RUNNING, c SKIPPED, d SKIPPED', 'what depends on the second is skipped');
select is((select x -> 'error' ->> 'message' from pawl.get_run(:'r') g, json_array_elements(g.steps) x where x ->> 'name' = 'a'), 'step a#1 failed: "no a"', 'the record has the error');
select t.done(:s, :'r', 'b', '1') as c \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"e": null}', 'and the run succeeds');
select is((select count(*) from pawl_data.gate) + (select count(*) from pawl_data.task), 0::bigint, 'nothing is left');
-- An element of a map yields null in its place; a map has no skip_all.
select pawl.create_flow('soft.map', max_attempts => 2, base => '1 s') as c \gset
select pawl.add_step('soft.map', 'each', '{}', '{"map": "run", "failed": "skip"}') as c \gset
select pawl.add_step('soft.map', 'sum', '{each}') as c \gset
select throws_ok($$select pawl.add_step('soft.map', 'x', '{}', '{"map": "run", "failed": "skip_all"}')$$, 'PW003', null, 'skip_all is not for maps');
select throws_ok($$select pawl.add_step('soft.map', 'x', '{}', '{"failed": "shrug"}')$$, 'PW003', null, 'an unknown value');
select run_id as r from pawl.trigger('soft.map', '[1, 2, 3]') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'each', '10', 0) as c \gset
select t.failed(:s, :'r', 'each', '"bad"', 1) as c \gset
select t.done(:s, :'r', 'each', '30', 2) as c \gset
select is((select count(*) from pawl_data.task where run_id = :'r' and task_no > 0), 1::bigint, 'it has its attempts first');
select t.later('2 s') \g /dev/null
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'each', '"bad"', 1) as c \gset
select is((select input ->> 'each' from pawl.claim(:s, 10)), '[10, null, 30]', 'an element that fails yields null in its place');
select t.done(:s, :'r', 'sum', '40') as c \gset
select is((select status from pawl.result(:'r')), 'SUCCESS', 'the run succeeds');
-- A step that fails as it is started.
select run_id as r from pawl.trigger('soft.map', '{"no": "array"}') \gset
select is((select input ->> 'each' from pawl.claim(:s, 10)), null, 'a map over what is no array is skipped');
select matches(t.states(:'r'), 'each SKIPPED', 'as its record says');
-- A condition that must be met still fails the run.
select pawl.create_flow('soft.must') as c \gset
select pawl.add_step('soft.must', 'a', '{}', '{"condition": {"/run/ok": true}, "unmet": "fail", "failed": "skip"}') as c \gset
select run_id as r from pawl.trigger('soft.must', '{}') \gset
select is((select status from pawl.result(:'r')), 'ERROR', 'unmet decides about conditions');
-- A child run that fails, or is cancelled.
select pawl.create_workflow('soft.kid', max_attempts => 1) as c \gset
select pawl.create_flow('soft.parent') as c \gset
select pawl.add_step('soft.parent', 'kid', '{}', '{"workflow": "soft.kid", "failed": "skip"}') as c \gset
select run_id as r from pawl.trigger('soft.parent', '{}') \gset
select c.run_id as k, c.fence as f from pawl.claim(:s, 10) c \gset
select answer from pawl.fail(:s, :'k', :f, '"broken"') \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"kid": null}', 'a child that fails is skipped');
-- The time limit of the run is not a failure of the step.
select pawl.create_flow('soft.timed', max_attempts => 1, run_timeout => '1 min') as c \gset
select pawl.add_step('soft.timed', 'a', '{}', '{"failed": "skip"}') as c \gset
select run_id as r from pawl.trigger('soft.timed', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select pawl.test_clock_advance('61 s') \g /dev/null
update pawl_data.worker set lease_until = pawl.now() + lease where ended_at is null;
select t.failed(:s, :'r', 'a', '"late"') as c \gset
select is((select status || ' ' || (error ->> 'code') from pawl.result(:'r')), 'ERROR timeout', 'a step that fails because the run''s time is up is not skipped');
-- An undo of a skipped step is executed if the run fails later.
select pawl.create_flow('soft.undo', max_attempts => 1) as c \gset
select pawl.add_step('soft.undo', 'a', '{}', '{"failed": "skip", "undo": "take_back"}') as c \gset
select pawl.add_step('soft.undo', 'b', '{a}') as c \gset
select run_id as r from pawl.trigger('soft.undo', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'a', '"half done"') as c \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'b', '"broken"') as c \gset
select is((select string_agg(u.name || ' ' || u.uncertain, ', ') from pawl._undos(array[:'r'::uuid]) u), 'a#1 true', 'what a skipped step may have done is undone, as uncertain');
-- A retry of the run does not repeat what was skipped.
select pawl.create_flow('soft.retry', max_attempts => 1) as c \gset
select pawl.add_step('soft.retry', 'a', '{}', '{"failed": "skip"}') as c \gset
select pawl.add_step('soft.retry', 'b', '{a}') as c \gset
select run_id as r from pawl.trigger('soft.retry', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'a', '"no"') as c \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'b', '"broken"') as c \gset
select is(t.state(:'r'), 'ERROR', 'another step fails the run');
select pawl.retry(array[:'r'::uuid]) \g /dev/null
select is((select string_agg(workflow, ' ') from pawl.claim(:s, 10)), 'soft.retry/b', 'a retry repeats that one alone');
select * from finish();
