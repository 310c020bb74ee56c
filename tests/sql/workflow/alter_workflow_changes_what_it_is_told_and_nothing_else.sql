-- SPDX-License-Identifier: Apache-2.0
select plan(9);

select pawl.create_workflow('a.flow', priority => 7, base => '3 s') \g /dev/null
select lives_ok($$select pawl.alter_workflow('a.flow', '{"max_attempts": 9, "cap": "1 min", "description": "x"}')$$, 'three options');
select results_eq('select priority::int, base, max_attempts, cap from pawl_data.workflow', $$values (7, interval '3 s', 9, interval '1 min')$$, 'the others stay');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"name": "b"}')$$, 'PW003', null, 'no name');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"workflow_id": 5}')$$, 'PW003', null, 'no number');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"jitter": 7}')$$, 'PW003', null, 'no nonsense');
select throws_ok($$select pawl.alter_workflow('a.flow', '[]')$$, 'PW003', null, 'no list');
select throws_ok($$select pawl.alter_workflow('a.flow', null)$$, 'PW003', null, 'not nothing');
select throws_ok($$select pawl.alter_workflow('no.such', '{}')$$, 'PW002', null, 'nothing unknown');
select is((select what from pawl.list_actions() limit 1), 'alter_workflow', 'it is on record');

select * from finish();
