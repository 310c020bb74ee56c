-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', key => 'k', key_while_active => true) \gset
select fence as f from t.one(:s) \gset
select is((select created from pawl.trigger('a.flow', key => 'k', key_while_active => true)), false, 'while it runs it is taken');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'it ends');
select is((select created from pawl.trigger('a.flow', '{"other": 1}', key => 'k', key_while_active => true)), true, 'then it is free, for another input too');
select run_id as r2, fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r2', :f, 'fail', null, '{}', '{"final": true}'), 'ok', 'a failure');
select is((select created from pawl.trigger('a.flow', key => 'k', key_while_active => true)), true, 'frees it as well');
select run_id as r3 from pawl.list_runs(only_status => 'QUEUED') \gset
select pawl.cancel(array[:'r3'::uuid]) \g /dev/null
select is((select created from pawl.trigger('a.flow', key => 'k', key_while_active => true)), true, 'and so does a cancel');

select * from finish();
