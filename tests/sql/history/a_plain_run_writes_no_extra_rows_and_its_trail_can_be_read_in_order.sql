-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'b#1', '1', null, 1) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 2) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select results_eq(format('select what, coalesce(detail ->> ''step'', detail ->> ''status'') from pawl.history(%L)', :'r'),
    $$values ('triggered', null), ('started', null), ('step_succeeded', 'b#1'), ('step_succeeded', 'a#1'), ('ended', 'SUCCESS')$$, 'derived from the records');
select is((select count(*) from pawl_data.audit) + (select count(*) from pawl_data.audit_kept) + (select count(*) from pawl_data.note) + (select count(*) from pawl_data.task) + (select count(*) from pawl_data.wait), 0::bigint, 'no row of its own');
select is((select count(*) from pawl_data.step) + (select count(*) from pawl_data.run), 3::bigint, 'one for each step and one for the run');

select * from finish();
