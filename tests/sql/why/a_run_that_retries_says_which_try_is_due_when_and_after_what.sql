-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select pawl.create_workflow('test.flow', base => '41 s', jitter => 0, max_attempts => 3) as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{"message": "connection refused"}')), 'ok', 'fails');
select is(pawl.why(:'r'), 'Attempt 2 of 3 starts in 41 s. Last error: "connection refused".', 'exactly');
select t.later('41 s', :s);
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'retry', 'pay#1', '"down"', '{"policy": {"base_ms": 5000, "jitter": 0, "max_attempts": 7}}'), 'ok', 'a step fails, with a policy of its own');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'and waits');
select is(pawl.why(:'r'), 'Attempt 2 of 7 of step pay#1 starts in 5 s. Last error: "down".', 'exactly');
select * from finish();
