-- SPDX-License-Identifier: Apache-2.0
-- Only a step that was skipped has nothing to go over.
select plan(3);
select t.session() as s \gset
select pawl.create_flow('n.flow') as c \gset
select pawl.add_step('n.flow', 'list', '{}', '{"condition": {"/run": 1}}') as c \gset
select pawl.add_step('n.flow', 'each', '{list}', '{"map": "list"}') as c \gset
select run_id as r from pawl.trigger('n.flow', '1') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.done(:s, :'r', 'list', 'null'), 'ok', 'a step that puts out null');
select is((select status || ': ' || (error ->> 'message') from pawl.result(:'r')), 'ERROR: step each maps over the output of step list, which is not an array', 'is no list');
select run_id as r from pawl.trigger('n.flow', '2') \gset
select is((select status || ' ' || output::jsonb from pawl.result(:'r')), 'SUCCESS {"each": []}', 'one that was skipped has no elements');
select * from finish();
