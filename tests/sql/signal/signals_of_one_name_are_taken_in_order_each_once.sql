-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select string_agg(pawl.signal(:'r', case when g = 3 then 'other' else 'go' end, to_json(g)), ' ') from generate_series(1, 5) g), 'stored stored stored stored stored', 'five are sent');
select is((select value ->> 'output' from pawl.wait_signal(:s, :'r', :f, 'go#1')), '1', 'first');
select is((select value ->> 'output' from pawl.wait_signal(:s, :'r', :f, 'go#2')), '2', 'second');
select is((select value ->> 'output' from pawl.wait_signal(:s, :'r', :f, 'go#1')), '1', 'a wait asked again has its own');
select is((select value ->> 'output' from pawl.wait_signal(:s, :'r', :f, 'go#3')), '4', 'the one of another name is left');
select is((select value ->> 'output' from pawl.wait_signal(:s, :'r', :f, 'go#4')), '5', 'last');
select is((select answer from pawl.wait_signal(:s, :'r', :f, 'go#5')), 'ok', 'then it waits');
select is(t.state(:'r'), 'PAUSED signal', 'paused');
select is(pawl.signal(:'r', 'go', '6'), 'taken', 'the next is taken at once');
select is(t.state(:'r'), 'QUEUED', 'and the run goes on');
select * from finish();
