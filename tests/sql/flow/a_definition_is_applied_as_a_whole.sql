-- SPDX-License-Identifier: Apache-2.0
select plan(20);
select t.stop_clock();
create function pg_temp.changes(definition json, only_check boolean default false) returns text language sql as $$
    select string_agg(concat_ws(' ', change, step), ', ' order by change, step) from pawl.apply_flow(definition, only_check) $$;
select is(pg_temp.changes('{"flow": "w.flow", "steps": [{"step": "b", "deps": ["a"]}, {"step": "a"}]}', true), 'add a, add b', 'what it would do');
select is((select count(*) from pawl.list_workflows()), 0::bigint, 'nothing was done');
select is(pg_temp.changes('{"flow": "w.flow", "steps": [{"step": "b", "deps": ["a"]}, {"step": "a"}]}'), 'add a, add b', 'in any order');
select is((select string_agg(step || ' ' || array_to_string(deps, '+'), ', ') from pawl.list_steps('w.flow')), 'a , b a', 'the steps, sorted');
select is(pg_temp.changes('{"flow": "w.flow", "steps": [{"step": "b", "deps": ["a"]}, {"step": "a"}]}'), null, 'nothing to change');
select is(pg_temp.changes('{"flow": "w.flow", "priority": 7, "steps": [{"step": "b", "deps": ["a"], "priority": 3}, {"step": "a"}, {"step": "c", "deps": ["b"]}]}'), 'add c, change b, option', 'changes');
select is((select priority from pawl.list_workflows('w.flow')), 7, 'an option of the flow');
select is((select options ->> 'priority' from pawl.list_steps('w.flow') where step = 'b'), '3', 'an option of a step');
select is(pg_temp.changes('{"flow": "w.flow", "steps": [{"step": "a"}]}'), 'remove b, remove c', 'removed');
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "steps": [{"step": "a", "deps": ["b"]}, {"step": "b", "deps": ["a"]}]}')$$, '%depend on each other in a circle%', 'a cycle');
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "steps": [{"step": "a", "deps": ["b"]}]}')$$, '%unknown step "b"%', 'an unknown dependency');
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "stepz": [], "steps": []}')$$, '%unknown option "stepz"%', 'an unknown option');
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "steps": [{"step": "a", "deps": ["b"]}]}', true)$$, '%unknown step "b"%', 'a check refuses what is bad');
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "steps": [{"step": "a", "mapp": "run"}]}', true)$$, '%unknown option "mapp"%', 'a bad option, too');
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "steps": [{"step": "a"}, {"step": "b", "deps": ["d"]}, {"step": "c", "deps": ["a", "b"]}, {"step": "d", "deps": ["c"]}]}')$$, 'the steps b, d, c depend on each other in a circle', 'a cycle is named without what only leads to it');
-- The worst order: each step depends on the one behind it.
select is((select count(*) from pawl.apply_flow(json_build_object('flow', 'long.flow', 'steps', (select json_agg(json_build_object('step', 's' || i, 'deps', case when i < 500 then json_build_array('s' || i + 1) else '[]' end)) from generate_series(1, 500) i)))), 500::bigint, 'a chain upside down');
select is((select string_agg(step, ' ') from (select step from pawl.list_steps('long.flow') limit 3) l), 's500 s499 s498', 'is turned round');
select is((select string_agg(o.step, ' ' order by o.n) from pawl._order_steps('[{"step": "z"}, {"step": "m", "deps": ["z"]}, {"step": "a"}]') o), 'z m a', 'what is in order stays as it is');
select run_id as r from pawl.trigger('w.flow', '1') \gset
select throws_like($$select * from pawl.apply_flow('{"flow": "w.flow", "steps": [{"step": "a"}, {"step": "b"}]}')$$, '%its steps do not change%', 'frozen');
select is(pg_temp.changes('{"flow": "w.flow", "steps": [{"step": "a"}]}'), null, 'as it is');
select * from finish();
