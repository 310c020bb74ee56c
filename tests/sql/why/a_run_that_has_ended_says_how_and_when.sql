-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.session() as s \gset
select run_id as good, fence as f from t.held(:s) \gset
select is((select answer from pawl.complete(:s, :'good', :f)), 'ok', 'one succeeds');
select run_id as bad, fence as f from t.held(:s) \gset
select is((select answer from pawl.fail(:s, :'bad', :f, '{"message": "boom"}', true)), 'ok', 'one fails');
select run_id as odd, fence as f from t.held(:s) \gset
select is((select answer from pawl.fail(:s, :'odd', :f, '["not", "an object"]', true)), 'ok', 'one fails with an error that is no object');
select t.run() as gone \gset
select is((select answer from pawl.cancel(array[:'gone'::uuid], 'enough')), 'ok', 'one is cancelled');
select pawl.test_clock_advance('3 days') \gset
select is(pawl.why(:'good'), 'Ended SUCCESS 3 days ago.', 'SUCCESS');
select is(pawl.why(:'bad'), 'Ended ERROR 3 days ago: boom. Retry it with pawl.retry().', 'ERROR');
select is(pawl.why(:'odd'), 'Ended ERROR 3 days ago: ["not", "an object"]. Retry it with pawl.retry().', 'ERROR with another kind of error');
select is(pawl.why(:'gone'), 'Ended CANCELLED 3 days ago: enough. Retry it with pawl.retry().', 'CANCELLED');
select throws_ok($$select pawl.why(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select throws_ok($$select pawl.why(null)$$, 'PW001', null, 'no run');
select * from finish();
