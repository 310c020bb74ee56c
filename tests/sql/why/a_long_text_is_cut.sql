-- SPDX-License-Identifier: Apache-2.0
-- An error may have a megabyte; the answer stays a sentence, and ends with what to do.
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.fail(:s, :'r', :f, json_build_object('message', repeat('x', 900000)), final => true) \g /dev/null
select is(pawl.why(:'r'), format('Ended ERROR 0 s ago: %s. Retry it with pawl.retry().', repeat('x', 200)), 'of an error');
select t.run() as r \gset
select pawl.pause(array[:'r'::uuid], why => repeat('y', 3000)) \g /dev/null
select cmp_ok(length(pawl.why(:'r')), '<', 400, 'of a pause');
select pawl.cancel(array[:'r'::uuid], why => repeat('z', 3000)) \g /dev/null
select is(pawl.why(:'r'), format('Ended CANCELLED 0 s ago: %s. Retry it with pawl.retry().', repeat('z', 200)), 'of a cancel');
select t.run() as r \gset
select pawl.pause_workflow('test.flow', repeat('v', 3000)) \g /dev/null
select cmp_ok(length(pawl.why(:'r')), '<', 500, 'of a paused workflow');
select pawl.resume_workflow('test.flow') \g /dev/null
select run_id as r, fence as f from t.one(:s) \gset
select answer from pawl.fail(:s, :'r', :f, '["odd"]', final => true) \g /dev/null
select is(pawl.why(:'r'), 'Ended ERROR 0 s ago: ["odd"]. Retry it with pawl.retry().', 'what is no object is told as it is');
select run_id as r, fence as f from t.held(:s) \gset
select answer from pawl.fail(:s, :'r', :f, '7', final => true) \g /dev/null
select is(pawl.why(:'r'), 'Ended ERROR 0 s ago: 7. Retry it with pawl.retry().', 'a number, too');
select * from finish();
