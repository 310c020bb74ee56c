-- SPDX-License-Identifier: Apache-2.0
-- 1. A takes a shared limit away from the last workflow that has it, which deletes the limit. 2. B gives it to another workflow. Whichever is
-- first, no workflow names a limit that is gone.
select plan(3);
select pawl.create_workflow('test.flow'), pawl.create_workflow('test.other') \g /dev/null
select pawl.alter_workflow('test.flow', '{"limit": 1, "limit_name": "shop"}') \g /dev/null
select t.other_holds($$select pawl.alter_workflow('test.other', '{"limit_name": "shop"}')::text$$) \g /dev/null
select throws_ok($$select pawl.alter_workflow('test.flow', '{"limit": null}')$$, '55P03', null, 'who takes it away waits for one that joins');
select t.other_done(), t.other_holds($$select pawl.alter_workflow('test.flow', '{"limit": null}')::text$$) \g /dev/null
select throws_ok($$select pawl.alter_workflow('test.other', '{"limit_name": "shop"}')$$, '55P03', null, 'and the other way round');
select t.other_done(), pawl.alter_workflow('test.other', '{"limit_name": "shop"}'), pawl.alter_workflow('test.flow', '{"limit": null}') \g /dev/null
select is((select held_limit from pawl.list_workflows('test.other')), 1, 'so the limit stays');
select * from finish();
