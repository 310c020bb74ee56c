-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'nap#1', 'option', json_build_object('ms', 3600000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'event', 'name', 'ev#1', 'option', json_build_object('topic', 'x')),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'approval', 'name', 'ok#1', 'option', json_build_object('form', 'null'::json)))),
    'ok ok ok', 'three waits');
select is(pawl.signal(:'r', 'never', '{}'), 'stored', 'a signal that nobody takes');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'the run ends without waiting');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no wait is left');
select is((select count(*) from pawl_data.signal), 0::bigint, 'no signal is left');
select is((select woken from pawl.emit('x')), 0, 'an event wakes nobody');
select * from finish();
