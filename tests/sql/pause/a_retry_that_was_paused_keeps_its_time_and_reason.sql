-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused while held');
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "boom"}')), 'ok', 'the handler fails');
select is(t.state(:'r'), 'PAUSED operator', 'paused');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'ok', 'resumed');
select is(t.state(:'r'), 'PAUSED retry', 'it waits for its retry');
select t.later('2 s', :s);
select is(t.state(:'r'), 'QUEUED', 'which comes');
select * from finish();
