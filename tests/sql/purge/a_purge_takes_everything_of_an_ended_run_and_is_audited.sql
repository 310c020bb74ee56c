-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.session() as s \gset
select pawl.create_workflow('test.flow') as c \gset
select run_id as r from pawl.trigger('test.flow', to_json(repeat('x', 5000)), key => 'k') \gset
select fence as f from t.one(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'one#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'note', 'payload', 'hello'))), 'ok ok', 'a step and a note');
select is((select answer from pawl.purge(array[:'r'::uuid])), 'refused', 'a run that has not ended is not purged');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'it ends');
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'a second round');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'ends too');
select is((select answer from pawl.purge(array[:'r'::uuid], 'asked for', 'ann')), 'ok', 'purged');
select is((select answer from pawl.purge(array[:'r'::uuid])), 'not_found', 'twice: not found');
select throws_ok(format('select * from pawl.get_run(%L)', :'r'), 'PW001', null, 'it is gone');
select is((select (select count(*) from pawl_data.run) + (select count(*) from pawl_data.run_kept) + (select count(*) from pawl_data.step) + (select count(*) from pawl_data.step_kept)
    + (select count(*) from pawl_data.audit) + (select count(*) from pawl_data.audit_kept) + (select count(*) from pawl_data.note) + (select count(*) from pawl_data.note_kept)
    + (select count(*) from pawl_data.input) + (select count(*) from pawl_data.input_kept) + (select count(*) from pawl_data.key) + (select count(*) from pawl_data.task)), 0::bigint, 'no row of it is left');
select is((select who || ' ' || (detail ->> 'run') || ' ' || (detail ->> 'why') from pawl.list_actions() where what = 'purge'), 'ann ' || :'r' || ' asked for', 'the act is audited');
select is((select created from pawl.trigger('test.flow', key => 'k')), true, 'its key is free');
select * from finish();
