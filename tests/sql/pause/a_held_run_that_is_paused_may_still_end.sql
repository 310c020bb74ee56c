-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.pause(array[:'r'::uuid])), 'ok', 'paused while held');
select is((select answer from pawl.complete(:s, :'r', :f, '1')), 'ok', 'the worker ends it');
select is(t.state(:'r'), 'SUCCESS', 'it has ended well');
select is((select answer from pawl.pause(array[:'r'::uuid])), 'SUCCESS', 'pausing what has ended says so');
select is((select answer from pawl.resume(array[:'r'::uuid])), 'SUCCESS', 'so does resuming it');
select is((select answer from pawl.pause(array[gen_random_uuid()])), 'not_found', 'and an unknown run is not found');
select * from finish();
