-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('a.flow'), pawl.create_workflow('b.flow') \g /dev/null
select is((select count(distinct run_id) from (values ('a.flow', ''), ('b.flow', ''), ('a.flow', 'x'), ('a.flow', 'y')) v (w, tn),
    lateral pawl.trigger(v.w, '{}', key => 'same', tenant => v.tn) r where r.created), 4::bigint, 'four runs');
select is((select created from pawl.trigger('a.flow', '{}', key => 'Same')), true, 'keys are case-sensitive');
select is((select created from pawl.trigger('a.flow', '{}', key => 'same ')), true, 'and blanks count');

select * from finish();
