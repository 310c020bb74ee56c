-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create function pg_temp.steps(p_run uuid) returns text language sql as $$
    select string_agg(concat_ws(' ', e ->> 'name', e ->> 'state', e ->> 'attempt', e #>> '{error,message}'), ', ')
    from pawl.get_run(p_run) g, json_array_elements(g.steps) e
$$;
select is(t.answer(:s, :'r', :f, 'retry', 'a#1', '{"message": "down"}', '{"policy": {"base_ms": 3000, "jitter": 0}}', 1), 'ok', 'an attempt fails');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'and its run waits');
select is(pg_temp.steps(:'r'), 'a#1 PAUSED 1 down', 'until the next attempt it is paused');
select t.later('4 s', :s);
select is(pg_temp.steps(:'r'), 'a#1 QUEUED 1 down', 'when the time has come it is queued, as its run is');
select fence as f2 from t.one(:s) \gset
select is(pg_temp.steps(:'r'), 'a#1 QUEUED 1 down', 'claimed, and nothing is known of the next attempt yet');
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'a#1', 'started_ms', 1500))) \g /dev/null
select is(pg_temp.steps(:'r'), 'a#1 RUNNING 2 down', 'the worker reports it: once, with the number of the attempt and the last error');
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'begin', 'b#1', null, '{"undo": {"handler": "h"}}', 1), 'ok', 'a step with an undo has begun');
select pawl.heartbeat(:s, json_build_array(json_build_object('run', :'r', 'step', 'b#1', 'started_ms', 1500))) \g /dev/null
select is(pg_temp.steps(:'r'), 'b#1 RUNNING 1', 'it is shown once while its worker executes it');
select t.answer(:s, :'r', :f, 'retry', 'b#1', '{"message": "down"}', null, 1) \g /dev/null
select pawl.heartbeat(:s, '[]') \g /dev/null
select is(pg_temp.steps(:'r'), 'b#1 PAUSED 1 down', 'and once while it waits for its next attempt');
select * from finish();
