-- SPDX-License-Identifier: Apache-2.0
select plan(39);
select t.session(lease => '1 day', name => 'walter') as s \gset
select pawl.create_workflow('test.flow'), pawl.create_workflow('test.other') \gset
select t.flow('graph', '[["one"], ["two"]]') \g /dev/null
create function pg_temp.counts() returns text language sql as $$ select string_agg(concat_ws(' ', workflow, status, runs, case when more then 'more' end), ', ') from pawl.count_runs() $$;
select is(pg_temp.counts(), null, 'no runs');
select run_id as r, fence as f from t.held(:s) \gset
select run_id as w, fence as wf from t.held(:s) \gset
select answer as a1 from pawl.wait_event(:s, :'w', :wf, 'w', 'a-topic') \gset
select t.answer(:s, :'w', :wf, 'suspend') as a2 \gset
select run_id as k from pawl.trigger('test.other', key => 'order-7') \gset
select run_id as g from pawl.trigger('graph') \gset
select is(pg_temp.counts(), 'graph QUEUED 1, test.flow PAUSED 1, test.flow RUNNING 1, test.other QUEUED 1', 'by workflow and state; a run of a flow once');
select is((select concat_ws(' ', count(*), min(status)) from pawl.count_runs('graph')), '1 QUEUED', 'of one workflow');
-- Waits in a list.
select is((select concat_ws(' ', reason, wait_kind, wait_name) from pawl.list_runs(only_workflow => 'test.flow', only_status => 'PAUSED')), 'event event a-topic', 'a list has what a run waits for');
select count(*) as n from pawl.claim(:s, 1) \gset
select count(*) as n from pawl.trigger_many('test.other', array(select to_json(n) from generate_series(1, 5050) n)) \gset
select count(*) as n from pawl.trigger_many('test.other', array(select to_json(n) from generate_series(1, 5050) n)) \gset
select matches(pg_temp.counts(), 'test.other QUEUED (9999|10000|10001) more', 'up to a limit');
-- Others take the limit.
select is((select concat_ws(' ', count(*), bool_or(more)) from pawl.count_runs('test.flow')), '3 t', 'of a workflow whose tasks are behind those of others');
select is((select concat_ws('|', workflow, status, runs, more) from pawl.count_runs('graph') where workflow is null), '0|t', 'a row without a workflow says that some may be left out');
select throws_ok('select * from pawl.count_runs(since => ''-1 s'')', 'PW003', null, 'since below 0');
select throws_ok('select * from pawl.count_runs(since => ''2000 years'')', 'PW003', null, 'since too long');
select is((select count(*) from pawl.count_runs(only_tenant => 'other')), 0::bigint, 'of a tenant');
-- Ended runs, as they were counted.
select answer as done from pawl.complete(:s, :'r', :f) \gset
do $$ begin for i in 1..30 loop perform pawl.test_clock_advance('11 s'); perform pawl.housekeep(); end loop; end $$;
select is((select concat_ws(' ', runs, counted_until is not null) from pawl.count_runs() where status = 'SUCCESS'), '1 t', 'ended ones');
select is((select count(*) from pawl.count_runs(since => '1 s') where status = 'SUCCESS'), 0::bigint, 'within a time');
-- What a word stands for.
create function pg_temp.found(p_word text) returns text language sql as $$ select string_agg(concat_ws(' ', what, name, status), ', ') from pawl.find(p_word) $$;
select is(pg_temp.found(:'r'), 'run ' || :'r' || ' SUCCESS', 'the id of an ended run');
select is(pg_temp.found(left(:'w', 22)), 'run ' || :'w' || ' PAUSED', 'the beginning of that of a living one');
select is(pg_temp.found(upper(replace(left(:'w', 22), '-', ''))), 'run ' || :'w' || ' PAUSED', 'however it is written');
select cmp_ok((select count(*) from pawl.find(left(:'w', 8))), '=', 20::bigint, 'a short beginning stands for many, of which the newest are listed');
select is(pg_temp.found(left(:'w', 7)), null, 'a shorter one for none');
select matches(pg_temp.found('order-7'), '^key order-7 (QUEUED|RUNNING)$', 'a key');
select is(pg_temp.found('test.'), 'workflow test.flow, workflow test.other', 'the beginning of a workflow');
select is(pg_temp.found('walt'), 'worker walter live', 'of a worker');
select is(pg_temp.found(:'s'), 'worker walter live', 'its session');
select is(pg_temp.found('a-topic'), 'topic a-topic', 'a topic');
select is(pg_temp.found(''), null, 'nothing');
select is(pg_temp.found(null), null, 'null');
select is(pg_temp.found('order-8'), null, 'and what is not there');
-- Marks.
select is((select count(*) from pawl.list_states(null)), 0::bigint, 'no ids');
select is((select string_agg(concat_ws(' ', status, reason), ', ' order by status) from pawl.list_states(array[:'r', :'w', pawl.make_id()]::uuid[])), 'PAUSED event, SUCCESS', 'states of many runs');
select throws_ok('select * from pawl.list_states(array(select pawl.make_id() from generate_series(1, 1001)))', 'PW009', null, 'not of too many');
create function pg_temp.mark(p_run uuid) returns text language sql as $$ select mark from pawl.list_states(array[p_run]) $$;
select pawl.create_workflow('marked.flow'), t.session('{marked.flow}', lease => '1 day') as k \gset
select run_id as m, fence as mf from t.held(:k, 'marked.flow') \gset
select pg_temp.mark(:'m') as m1 \gset
select is(pg_temp.mark(:'m'), :'m1', 'a mark stays while nothing happens');
select answer as a3 from pawl.step(:k, :'m', :mf, 'x', '1') \gset
select pg_temp.mark(:'m') as m2 \gset
select isnt(:'m2'::text, :'m1', 'and changes with a record');
select pawl.heartbeat(:k, json_build_array(json_build_object('run', :'m', 'step', 'y#1', 'started_ms', 5))) \g /dev/null
select pg_temp.mark(:'m') as m3 \gset
select isnt(:'m3'::text, :'m2', 'with a step that its worker executes');
select t.answer(:k, :'m', :mf, 'retry', 'y#1', '{"message": "down"}', '{"policy": {"base_ms": 3000, "jitter": 0}}', 1) as a4 \gset
select t.answer(:k, :'m', :mf, 'suspend') as a5 \gset
select pg_temp.mark(:'m') as m4 \gset
select isnt(:'m4'::text, :'m3', 'with a failed attempt');
select is((select concat_ws(' ', reason, error_line) from pawl.list_runs(only_status => 'PAUSED', max_rows => 1)), 'retry down', 'which a list of runs tells');
select pawl.test_clock_advance('4 s') \g /dev/null
select isnt(pg_temp.mark(:'m'), :'m4', 'and with the time');
select is((select steps -> 1 #>> '{failed_attempts,0,error,message}' from pawl.get_run(:'m')), 'down', 'a run is shown with the failed attempts of its steps');
select is((select steps -> 0 ->> 'failed_attempts' from pawl.get_run(:'m')), null, 'and of no other step');
-- Runs in lanes.
select pawl.create_workflow('laned.flow'), pawl.alter_workflow('laned.flow', '{"key_limit": 1}') \g /dev/null
select pawl.trigger('laned.flow', limit_key => 'a'), pawl.trigger('laned.flow', limit_key => 'a') \g /dev/null
select is((select concat_ws(' ', status, runs) from pawl.count_runs('laned.flow') where workflow is not null), 'QUEUED 2', 'runs in lanes are counted');
-- Waiting runs of others come before those of a tenant.
select pawl.create_workflow('late.flow') \g /dev/null
select pawl.trigger('late.flow', tenant => 'small', delay => '2 hours') \g /dev/null
select is((select string_agg(concat_ws(' ', workflow, status, runs, more), ', ') from pawl.count_runs(only_tenant => 'small')), 'late.flow PAUSED 1 f', 'a tenant''s own');
select count(*) from pawl.trigger_many('late.flow', array(select to_json(i) from generate_series(1, 5050) i), delay => '1 hour', tenant => 'large') \g /dev/null
select count(*) from pawl.trigger_many('late.flow', array(select to_json(i) from generate_series(1, 5050) i), delay => '1 hour', tenant => 'large') \g /dev/null
select is((select string_agg(concat_ws(' ', workflow, status, runs, more), ', ') from pawl.count_runs(only_tenant => 'small')), '0 t', 'are never left out silently');
select * from finish();
