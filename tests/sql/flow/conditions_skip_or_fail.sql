-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.session() as s \gset
select pawl.create_flow('if.flow') as c \gset
select pawl.add_step('if.flow', 'a') as c \gset
select pawl.add_step('if.flow', 'web', '{a}', '{"condition": {"/run/kind": "web"}}') as c \gset
select pawl.add_step('if.flow', 'b', '{web}') as c \gset
select pawl.add_step('if.flow', 'tree', '{a}', '{"condition": {"/a/n": 1}, "unmet": "skip_all"}') as c \gset
select pawl.add_step('if.flow', 'leaf', '{tree}') as c \gset
select pawl.add_step('if.flow', 'must', '{a}', '{"condition": {"/a/ok": true}, "unmet": "fail"}') as c \gset
select run_id as r from pawl.trigger('if.flow', '{"kind": "web"}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'a', '{"n": 1, "ok": true}') as c \gset
select is((select string_agg(workflow, ' ' order by task) from pawl.claim(:s, 10)), 'if.flow/web if.flow/tree if.flow/must', 'all conditions are met');
select t.done(:s, :'r', 'web', '1') as c \gset
select t.done(:s, :'r', 'tree', '1') as c \gset
select t.done(:s, :'r', 'must', '1') as c \gset
select t.work(:s) \gset
select is((select status from pawl.result(:'r')), 'SUCCESS', 'done');
select run_id as r from pawl.trigger('if.flow', '{"kind": "mail"}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'a', '{"n": 2, "ok": true}') as c \gset
select is((select string_agg(workflow || ' ' || coalesce(input ->> 'web', '-'), ' ' order by task) from pawl.claim(:s, 10)), 'if.flow/b - if.flow/must -', 'a skipped step counts as done, with null for its output');
select is((select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ', ' order by x ->> 'name') from pawl.get_run(:'r'), json_array_elements(steps) x where x ->> 'state' = 'SKIPPED'), 'leaf SKIPPED, tree SKIPPED, web SKIPPED', 'skip_all takes its dependents along');
select t.done(:s, :'r', 'b', '1') as c \gset
select t.done(:s, :'r', 'must', '5') as c \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"b": 1, "leaf": null, "must": 5}', 'the output has null for what was skipped');
select run_id as r from pawl.trigger('if.flow', '{"kind": "web"}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.done(:s, :'r', 'a', '{"n": 2, "ok": false}') as c \gset
select is(t.state(:'r'), 'ERROR', 'a condition that must be met');
select is((select error ->> 'message' from pawl.result(:'r')), 'the condition of step must is not met', 'and the error says so');
select is((select count(*) from pawl_data.task), 0::bigint, 'no task is left');
select is((select count(*) from pawl_data.gate), 0::bigint, 'no gate is left');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no wait is left');
select throws_like($$select pawl.add_step('if.flow', 'x', '{}', '{"condition": {"no": 1}}')$$, '%JSON pointer%', 'a bad condition');
select throws_like($$select pawl.add_step('if.flow', 'x', '{}', '{"condition": {"/a": 1}, "unmet": "shrug"}')$$, '%skip, skip_all or fail%', 'a bad unmet');
select * from finish();
