-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.session('{bad.flow/a,bad.flow/b}') as s \gset
select pawl.create_flow('bad.flow', max_attempts => 2) as c \gset
select pawl.add_step('bad.flow', 'a') as c \gset
select pawl.add_step('bad.flow', 'b') as c \gset
select pawl.add_step('bad.flow', 'c') as c \gset
select pawl.add_step('bad.flow', 'd', '{a,b}') as c \gset
select run_id as r from pawl.trigger('bad.flow', '{}') \gset
select count(*) from pawl.claim(:s, 2) \gset
select is(t.failed(:s, :'r', 'a', '{"message": "no"}'), 'ok', 'a failed try');
select is((select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ', ' order by x ->> 'name') from pawl.get_run(:'r'), json_array_elements(steps) x), 'a PAUSED, b RUNNING, c QUEUED', 'it will be tried again');
select t.later('1 h', :s);
select t.session() as other \gset
select count(*) from pawl.claim(:s, 1) \gset
select is(t.failed(:s, :'r', 'a', '{"message": "no"}'), 'ok', 'the last try');
select is(t.state(:'r'), 'RUNNING', 'a task is still held');
select matches(pawl.why(:'r'), 'Ending: a step failed .* 1 task is still held; no new step starts', 'why');
select is((select count(*) from pawl.claim(:other, 10)), 0::bigint, 'nothing new starts');
select is((select string_agg(notice, ',') from pawl.heartbeat(:s) where run_id = :'r'), 'cancelled', 'the holder is told');
select is(t.done(:s, :'r', 'b', '2'), 'ok', 'a result that arrives before the end');
select is((select status || ': ' || (error ->> 'message') from pawl.result(:'r')), 'ERROR: step a#1 failed: no', 'the run ends');
select is((select string_agg((x ->> 'name') || ' ' || (x ->> 'state'), ', ' order by x ->> 'name') from pawl.get_run(:'r'), json_array_elements(steps) x), 'a ERROR, b SUCCESS', 'and keeps what was done');
select is((select count(*) from pawl_data.task) + (select count(*) from pawl_data.gate) + (select count(*) from pawl_data.wait), 0::bigint, 'nothing is left');
select * from finish();
