-- SPDX-License-Identifier: Apache-2.0
-- One branch was woken, another still waits: the pause must not make the run wait for the other one.
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'a/w#1', 'option', json_build_object('topic', 'x')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'b/w#1', 'option', json_build_object('topic', 'y')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok', 'two branches wait');
select is((select woken from pawl.emit('x')), 1, 'one is woken');
select is(t.state(:'r'), 'QUEUED', 'the run is queued');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is(t.state(:'r'), 'QUEUED', 'and queued again');
select * from finish();
