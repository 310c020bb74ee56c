-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'a/w#1', 'seq', 1, 'option', json_build_object('topic', 'x', 'key', 'k', 'match', json_build_object('/id', 7), 'timeout_ms', 60000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'b/nap#1', 'seq', 2, 'option', json_build_object('ms', 1000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'c/ok#1', 'seq', 3, 'option', json_build_object('form', json_build_object('q', 1))))), 'ok ok ok', 'three waits');
select is((select string_agg(concat_ws(' ', name, kind, topic, key, match, form, until - pawl.now()), ', ' order by name) from pawl.list_waits(:'r')),
    'a/w#1 event x k {"/id" : 7} 00:01:00, b/nap#1 sleep 00:00:01, c/ok#1 approval ok {"q" : 1}', 'with what they wait for and until when');
select is((select count(*) from pawl.list_waits()), 3::bigint, 'of all runs');
select is((select count(*) from pawl.list_waits(only_tenant => 'acme')), 0::bigint, 'of another tenant');
select is((select string_agg(name, ' ') from pawl.list_waits(only_approvals => true)), 'c/ok#1', 'approvals only');
select is((select count(*) from pawl.list_waits(max_rows => 2)), 2::bigint, 'bounded');
select * from finish();
