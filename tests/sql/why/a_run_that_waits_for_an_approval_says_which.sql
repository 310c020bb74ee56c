-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.session() as s \gset
select to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS') as at \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'publish#1'), json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'waits');
select is(pawl.why(:'r'), format('Waiting for approval publish since %s. Decide with pawl.approve() or pawl.reject().', :'at'), 'exactly');
select * from finish();
