-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'retry', 'pay#1', '{}') as c \gset
select is(pawl.record_step(pawl.step_token(:s, :'r', :f, 'pay#1'), '1'), 'ok', 'the second try is recorded');
select is(attempt, 2, 'as the second') from pawl_data.step where run_id = :'r' and name = 'pay#1';
select t.answer(:s, :'r', :f, 'signal', 'go#1', null, '{"signal": "go"}') as c \gset
select throws_ok(format($$select pawl.record_step(pawl.step_token(%s, %L, %s, 'go#1'), '7')$$, :s, :'r', :f), 'PW007', null,
    'a step under the name of an open wait');
select is(pawl.signal(:'r', 'go', '8'), 'taken', 'the wait takes its signal');
select is(output::text, '8', 'and has it') from pawl_data.step where run_id = :'r' and name = 'go#1';
select * from finish();
