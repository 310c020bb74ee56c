-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', '{"n": 1}', key => 'k') \gset
select results_eq($$select run_id, created from pawl.trigger('a.flow', '{"n": 1}', key => 'k')$$, format('values (%L::uuid, false)', :'r'), 'and created is false');
select is((select count(*) from pawl_data.task), 1::bigint, 'one run');
select results_eq($$select item, created from pawl.trigger_many('a.flow', array['{"n": 1}', '2', '2']::json[], keys => array['k', 'new', 'new'])$$,
    $$values (1, false), (2, true), (3, false)$$, 'many with keys, one of them twice');
select is((select count(*) from pawl_data.task), 2::bigint, 'two runs');

select * from finish();
