-- SPDX-License-Identifier: Apache-2.0
select plan(23);
create function pg_temp.found(p_what text) returns text language sql as $$
    select string_agg(d.level || ': ' || d.found, ' | ' order by d.found) from pawl.doctor() d where d.what = p_what
$$;
select t.session(array['other.*']) as other \gset
select is((select string_agg(what, ' ') from pawl.doctor() where what in ('queue', 'pause', 'worker', 'rollback', 'drift', 'wait', 'metrics', 'bounds')), null, 'nothing is wrong with no work at all');

-- Queues.
select t.run('test.lonely') as r1, t.run('test.lonely') as r2 \gset
select is(pg_temp.found('queue'), 'warning: no live worker handles queue test.lonely: 2 ready tasks, the first due 0 s ago', 'a backlog without a worker');
select t.later('20 min', :other);
select matches(pg_temp.found('queue'), '^error: .*20 min ago', 'is an error after ten minutes');
select t.session(array['test.*']) as s \gset
select is(pg_temp.found('queue'), null, 'a live worker takes it');
select pawl.drain_worker(:s) \g /dev/null
select isnt(pg_temp.found('queue'), null, 'one that drains does not');
select pawl.leave(:s) \g /dev/null
select pawl.pause_workflow('test.lonely', why => 'audit', by => 'dora') \g /dev/null
select is(pg_temp.found('queue'), null, 'a paused one needs no worker');
select is(pg_temp.found('pause'), 'warning: workflow test.lonely has been paused by dora for 0 s (audit): 2 ready tasks', 'but is reported with its backlog');
select pawl.resume_workflow('test.lonely'), pawl.cancel(array[:'r1', :'r2']::uuid[]) \g /dev/null
select is(concat(pg_temp.found('queue'), pg_temp.found('pause')), '', 'without a backlog there is nothing to report');

-- Workers.
select t.session(name => 'web-7', lease => '10 s') as s \gset
select run_id as r from t.held(:s) \gset
select pawl.test_clock_advance('5 min'), pawl.leave(:other) \g /dev/null
select is(pg_temp.found('worker'), 'error: worker web-7 has sent no heartbeat for 5 min, and its session was not ended: it holds 1 task', 'a lost worker that nobody sweeps');
select t.session(lease => '1 day') as s \gset
select t.later('1 s', :s);
select is(pg_temp.found('worker'), 'warning: 1 worker lost the lease in the last 24 hours; the last was web-7, 0 s ago', 'and one that was swept');
select pawl.complete(:s, o.run_id, o.fence) from t.one(:s) o \g /dev/null
select pawl.heartbeat(:s, null, true) \g /dev/null
select matches(pg_temp.found('worker'), 'warning: worker [^|]* has claimed nothing for 0 s: its program does not take its runs', 'a worker that starves its runs');
select pawl.heartbeat(:s, null, false) \g /dev/null
select doesnt_match(pg_temp.found('worker'), 'does not take', 'no longer when it takes them');

-- Rollbacks.
select run_id as r, fence as f from t.held(:s, 'test.undo') \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'pay#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'u', 'max_attempts', 1))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'pay#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{}', 'option', json_build_object('final', true)))), 'ok ok ok', 'a run fails and is to be undone');
select fence as f from t.one(:s) \gset
select t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'rollback:pay#1', 'payload', '{"message": "no"}', 'option', json_build_object('permanent', true)))) \g /dev/null
select t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step_error', 'name', 'rollback:pay#1', 'payload', '{"message": "no"}', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{}', 'option', json_build_object('final', true)))) \g /dev/null
select is(t.state(:'r'), 'ERROR', 'its undo fails');
select is(pg_temp.found('rollback'), format('error: the rollback of 1 run of workflow test.undo stopped at an undo that failed. The last one is %s, 0 s ago; not undone: ["pay#1"]', :'r'), 'a stuck rollback');
select pawl.rollback_skip(:'r', 'pay#1') \g /dev/null
select is(pg_temp.found('rollback'), null, 'no longer when somebody has taken it up');
select pawl.complete(:s, o.run_id, o.fence) from t.one(:s) o \g /dev/null
select is(pg_temp.found('rollback'), null, 'nor when it is done');

-- Drift and waits.
select run_id as d, fence as f from t.held(:s, 'test.drift') \gset
select pawl.commit(:s, array[:'d'::uuid], array[:f], '{drift}', '{a#1}', options => array['{"recorded": "step", "asked": "sleep"}']) \g /dev/null
select is(pg_temp.found('drift'), format('error: 1 run of workflow test.drift is paused because the code no longer matches the records. The last one is %s, 0 s ago: drift: step a#1 is recorded as step, the code asks for sleep', :'d'), 'a run that drift has paused');
select run_id as e, fence as f from t.held(:s, 'test.event') \gset
select t.answer(:s, :'e', :f, 'event', 'paid#1', null, '{"topic": "paid"}', 1), t.answer(:s, :'e', :f, 'suspend') \g /dev/null
select run_id as a, fence as f from t.held(:s, 'test.approve') \gset
select t.answer(:s, :'a', :f, 'approval', 'boss#1', null, '{"signal": "boss"}', 1), t.answer(:s, :'a', :f, 'suspend') \g /dev/null
select t.later('6 days', :s);
select is(pg_temp.found('wait'), null, 'waits may last');
select t.later('25 h', :s);
select is(pg_temp.found('wait'), format('warning: 1 run has waited for approval boss for more than a week; the first, %s, for 7 days | warning: 1 run has waited for event paid for more than a week; the first, %s, for 7 days', :'a', :'e'), 'but not for more than a week without a word');

-- Counts.
update pawl_data.chore set position = date_part('epoch', pawl.now() - interval '1 min')::bigint::text where chore = 'rollup';
select is(pg_temp.found('metrics'), null, 'ended runs are counted');
select pawl.leave(:s), pawl.test_clock_advance('30 min') \g /dev/null
select matches(pg_temp.found('metrics'), '^warning: runs that ended in the last 31 min are not counted', 'counts that stand still');
select is((select count(*) from pawl.doctor() where level <> 'ok' and cure is null), 0::bigint, 'every finding has its cure');
select * from finish();
