-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'slow#1', 'started_ms', 0, 'timeout_ms', 1000))) \g /dev/null
select answer from pawl.pause(array[:'r'::uuid]) \gset
select t.later('10 s') \g /dev/null
select is(t.state(:'r'), 'PAUSED operator', 'nothing new is claimed');
select is_empty(format('select * from pawl.claim(%s)', :s), 'by nobody');

select * from finish();
