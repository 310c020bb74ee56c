-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'a/nap#1', 'option', json_build_object('ms', 3600000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'b/ev#1', 'option', json_build_object('topic', 'x', 'timeout_ms', 60000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'signal', 'name', 'c/go#1', 'option', json_build_object('signal', 'go')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok ok', 'three branches wait');
select is(t.state(:'r'), 'PAUSED event', 'the reason is that of the first due');
select is((select due_at from pawl.get_run(:'r')), pawl.now() + interval '1 min', 'and so is the due time');
select t.later('1 min', :s);
select fence as f, record from t.one(:s) \gset
select is((select string_agg(e ->> 'name' || ' ' || (e ->> 'state'), ', ') from json_array_elements(:'record'::json -> 'steps') e),
    'b/ev#1 ERROR', 'only the branch whose time is over has a record');
select is(:'record'::json #>> '{steps,0,error,code}', 'timeout', 'it timed out');
select is((select string_agg(e ->> 'name', ', ') from json_array_elements(:'record'::json -> 'waits') e), 'a/nap#1, c/go#1', 'the others still wait');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'suspended again');
select is(pawl.signal(:'r', 'go', '1'), 'taken', 'a signal comes');
select is(t.state(:'r'), 'QUEUED', 'and wakes the run before its sleep is over');
select * from finish();
