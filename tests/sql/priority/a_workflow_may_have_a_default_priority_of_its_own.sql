-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select pawl.create_workflow('a.flow', priority => 5) \g /dev/null
select run_id as r from pawl.trigger('a.flow') \gset
select is((select priority from pawl.get_run(:'r')), 5, 'its runs have it');
select pawl.alter_workflow('a.flow', '{"priority": 9}') \g /dev/null
select is((select priority from pawl.get_run(:'r')), 5, 'they keep it');
select run_id as r from pawl.trigger('a.flow') \gset
select is((select priority from pawl.get_run(:'r')), 9, 'later ones have the new one');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"priority": -1}')$$, 'PW003', null, 'none that no claim would look for');
select throws_ok($$select pawl.alter_workflow('a.flow', '{"priority": null}')$$, 'PW003', null, 'nor none at all');

select * from finish();
