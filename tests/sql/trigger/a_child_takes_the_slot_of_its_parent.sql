-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select pawl.create_workflow('kid.flow') \g /dev/null
select run_id as r, fence as f from t.held(:s) \gset
select value ->> 'child' as kid from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow"}') \gset
select is(pawl.slot_of(:'kid'), pawl.slot_of(:'r'), 'the same slot');
select is((select parent_id from pawl.get_run(:'kid')), :'r'::uuid, 'and it knows its parent');

select * from finish();
