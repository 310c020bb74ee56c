-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.stop_clock() \gset
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '3 days')), 'ok', 'it sleeps');
select pawl.test_clock_advance('5 s') \gset
select is((select answer || coalesce(reason, '') from pawl.wake(array[:'r']::uuid[], why => 'no need', by => 'dora')), 'ok', 'and is woken');
select is(t.state(:'r'), 'QUEUED', 'it can be claimed');
select is_empty('select * from pawl_data.wait', 'and waits for nothing');
select is((select string_agg(concat_ws(' ', s.name, s.kind, s.state, s.output), ', ') from pawl.get_run(:'r') g, json_to_recordset(g.steps) s (name text, kind text, state text, output json)), 'nap#1 sleep SUCCESS', 'the sleep is recorded');
select is((select s.ended_at - s.started_at from pawl_data.step s), interval '5 s', 'with the time that it lasted');
select is((select record #>> '{steps,0,state}' from t.one(:s)), 'SUCCESS', 'its handler goes on behind it');
select is((select string_agg(what || ' ' || who || ' ' || detail::text, ', ') from pawl.history(:'r') where what = 'wake'), 'wake dora {"why" : "no need", "ended" : ["nap#1"]}', 'the history says who, why and what');
select is((select string_agg(answer, ' ') from pawl.wake(array[:'r']::uuid[])), 'refused', 'once it runs there is nothing to wake');
select * from finish();
