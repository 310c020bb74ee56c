-- SPDX-License-Identifier: Apache-2.0
select plan(12);
select t.stop_clock() \gset
select t.session() as s \gset
select pawl.create_workflow('test.flow', base => '1 h', cap => '1 h', jitter => 0) \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'retry', 'a#1', '{"message": "down"}'), 'ok', 'a step failed');
select is(t.answer(:s, :'r', :f, 'retry', 'b/c#1', '"down"'), 'ok', 'in another branch another');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'and the run waits');
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[], step => 'a')), 'ok', 'one of them is woken');
select is(t.state(:'r'), 'QUEUED', 'the run can be claimed');
select c.fence as f, c.record as record from t.one(:s) c \gset
select is((:'record'::json #>> '{retries,a#1,due}')::timestamptz, pawl.now(), 'its next attempt may begin');
select is(:'record'::json #>> '{retries,a#1,n}', '1', 'and counts the failures before it');
select is((:'record'::json #>> '{retries,b/c#1,due}')::timestamptz, pawl.now() + interval '1 h', 'the other waits still');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'it waits for that one');
select is(t.state(:'r'), 'PAUSED retry', 'again');
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[])), 'ok', 'without a name all are woken');
-- A failure of the handler itself has no name.
select pawl.kill(array[:'r']::uuid[]) \gset
select run_id as r2, fence as f2 from t.held(:s) \gset
select t.answer(:s, :'r2', :f2, 'fail', null, '{}') as a \gset
select w.answer from pawl.wake(array[:'r2']::uuid[]) w \gset
select is(:'answer' || ' ' || t.state(:'r2') || ' ' || (select h.detail ->> 'ended' from pawl.history(:'r2') h where h.what = 'wake'), 'ok QUEUED ["retry"]', 'a handler that failed is executed again');
select * from finish();
