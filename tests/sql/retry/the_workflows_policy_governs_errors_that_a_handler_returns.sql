-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select pawl.create_workflow('handler.flow', max_attempts => 3, base => '10 s', jitter => 0) \g /dev/null
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s, 'handler.flow') \gset
select is((select value ->> 'delay_ms' from t.item(:s, :'r', :f, 'fail', null, '{"message": "first"}')), '10000', 'the first');
select is(t.state(:'r'), 'PAUSED retry', 'it waits');
select t.later('9 s') \g /dev/null
select is_empty(format('select * from pawl.claim(%s)', :s), 'not before its time');
select t.later('1 s') \g /dev/null
select fence as f, execution as a from t.one(:s) \gset
select is(:a, 2, 'then it is claimed for the second attempt');
select is((select value ->> 'delay_ms' from t.item(:s, :'r', :f, 'fail', null, '{"message": "second"}')), '20000', 'the second');
select t.later('20 s') \g /dev/null
select fence as f from t.one(:s) \gset
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'fail', null, '{"message": "third"}')), 'true', 'the third is final');
select is((select status || (error ->> 'message') from pawl.result(:'r')), 'ERRORthird', 'and the run carries its own error');

select * from finish();
