-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'signal', 'name', 'b/go#1', 'seq', 1, 'option', json_build_object('signal', 'go')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'signal', 'name', 'a/go#1', 'seq', 2, 'option', json_build_object('signal', 'go')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok', 'two branches wait for one name');
select is(pawl.signal(:'r', 'go', '1'), 'taken', 'a signal');
select is((select string_agg(name, ' ') from pawl.list_waits(:'r')), 'a/go#1', 'the branch that asked first has it');
select * from finish();
