-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', '{"n": 1}', key => 'k') \gset
select throws_ok($$select pawl.trigger('a.flow', '{"n": 2}', key => 'k')$$, 'PW004', null, 'another value');
select throws_ok($$select pawl.trigger('a.flow', '{"n":1}', key => 'k')$$, 'PW004', null, 'other bytes');
select throws_ok($$select pawl.trigger_many('a.flow', array['{"n": 1}', '{"n": 2}']::json[], keys => array['k', 'k'])$$, 'PW004', null, 'one of many');
select is((select count(*) from pawl_data.task), 1::bigint, 'one run');

select * from finish();
