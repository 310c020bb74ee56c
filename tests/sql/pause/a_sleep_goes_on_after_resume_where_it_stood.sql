-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 hour')), 'ok', 'sleeps for an hour');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused');
select t.later('30 min', :s);
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed after half of it');
select is(t.state(:'r'), 'PAUSED sleep', 'it still sleeps');
select is((select due_at from pawl.get_run(:'r')), pawl.now() + interval '30 min', 'for the other half');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused again');
select t.later('1 hour', :s);
select is(t.state(:'r'), 'PAUSED operator', 'a timer does not end a pause');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed when the sleep is over');
select is(t.state(:'r'), 'QUEUED', 'it goes on');
select * from finish();
