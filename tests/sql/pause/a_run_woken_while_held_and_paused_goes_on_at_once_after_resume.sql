-- SPDX-License-Identifier: Apache-2.0
select plan(7);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'a/w#1', 'option', json_build_object('topic', 'x')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'b/w#1', 'option', json_build_object('topic', 'y')))), 'ok ok', 'two branches wait');
select is((select woken from pawl.emit('x')), 1, 'one is woken while the run is held');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the worker lets go');
select is(t.state(:'r'), 'PAUSED operator', 'paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is(t.state(:'r'), 'QUEUED', 'it does not wait for the other branch');
select * from finish();
