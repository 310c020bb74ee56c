-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'publish#1', 'option', json_build_object('timeout_ms', 3600000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'the run asks, for an hour');
select is((select until from pawl.list_waits(only_approvals => true)), pawl.now() + interval '1 hour', 'the list says until when');
select t.later('1 hour', :s);
select is((select record #>> '{steps,0,error,code}' from t.one(:s)), 'timeout', 'timed out');
select is((select count(*) from pawl.list_waits(only_approvals => true)), 0::bigint, 'nothing is pending');
select * from finish();
