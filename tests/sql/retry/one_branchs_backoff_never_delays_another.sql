-- SPDX-License-Identifier: Apache-2.0
select plan(9);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'left/a#1', 'payload', '{}', 'seq', 1, 'option', json_build_object('retry_after_ms', 600000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'right/a#1', 'payload', '{}', 'seq', 2, 'option', json_build_object('retry_after_ms', 5000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'mid/nap#1', 'seq', 3, 'option', json_build_object('ms', 60000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok ok ok', 'three branches wait');
select is((select due_at - pawl.now() from pawl.get_run(:'r')), interval '5 s', 'the run is due when the first of them is');
select is(t.state(:'r'), 'PAUSED retry', 'and says what it waits for');
select t.later('5 s') \g /dev/null
select fence as f, record -> 'retries' -> 'left/a#1' ->> 'n' as n from t.one(:s) \gset
select is(:'n'::text, '1', 'the claim knows the tries of the other branch');
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'right/a#1', 'payload', '1', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))), 'ok ok', 'the right one goes on');
select is((select due_at - pawl.now() from pawl.get_run(:'r')), interval '55 s', 'the next is the sleep');
select is(t.state(:'r'), 'PAUSED sleep', 'as the run says');
select t.later('55 s') \g /dev/null
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the sleep is over, the left one waits still');
select is((select due_at - pawl.now() from pawl.get_run(:'r')), interval '540 s', 'for its own time');

select * from finish();
