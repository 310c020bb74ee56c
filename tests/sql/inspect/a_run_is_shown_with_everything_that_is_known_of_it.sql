-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session(name => 'web-3') as s \gset
select pawl.create_workflow('test.flow') as c \gset
select run_id as r from pawl.trigger('test.flow', '{"in": 1}', key => 'k', metadata => '{"m": 1}', priority => 7) \gset
select is((select concat_ws(' ', workflow, status, round, execution, priority, key, input, metadata, steps) from pawl.get_run(:'r')), 'test.flow QUEUED 1 0 7 k {"in": 1} {"m": 1} []', 'queued');
select fence as f from t.one(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '{"x": 1}', 'seq', 1, 'millis', 250),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step_error', 'name', 'b#1', 'payload', '{"message": "boom"}', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'c#1', 'payload', '{"message": "down"}', 'seq', 3),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'd#1', 'seq', 4, 'option', json_build_object('ms', 60000)))), 'ok ok ok ok', 'steps of many kinds');
select lease_until from pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'e#1', 'started_ms', 1500))) \gset
select is((select string_agg(concat_ws(' ', e ->> 'name', e ->> 'kind', e ->> 'state', e ->> 'output', e #>> '{error,message}'), ', ') from pawl.get_run(:'r') g, json_array_elements(g.steps) e),
    'a#1 step SUCCESS {"x": 1}, b#1 step ERROR boom, d#1 sleep PAUSED, c#1 step PAUSED down, e#1 step RUNNING', 'recorded, waiting, to be repeated, and under way');
select is((select (e ->> 'ended_at')::timestamptz - (e ->> 'started_at')::timestamptz from pawl.get_run(:'r') g, json_array_elements(g.steps) e where e ->> 'name' = 'a#1'), interval '250 ms', 'with how long it took');
select is((select status || ' ' || worker from pawl.get_run(:'r')), 'RUNNING web-3', 'held');
select is((select answer from pawl.complete(:s, :'r', :f, '{"out": 1}')), 'ok', 'ends');
select is((select concat_ws(' ', status, output, error, input, metadata, key, worker) from pawl.get_run(:'r')), 'SUCCESS {"out": 1} {"in": 1} {"m": 1} k web-3', 'ended');
select throws_ok($$select * from pawl.get_run(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select throws_ok($$select * from pawl.get_run(null)$$, 'PW001', null, 'no run');
select * from finish();
