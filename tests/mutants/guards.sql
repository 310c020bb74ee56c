-- SPDX-License-Identifier: Apache-2.0
-- One check for each guard that a single session can show. A line "ok NAME" or "not ok NAME: ..." for each; tests/mutants/run
-- takes a guard away and looks for the line with its name.

-- What a statement answers, or its SQLSTATE.
create function iso.try(statement text)
returns text
language plpgsql
as $$
declare
    v_answer text;
begin
    execute statement into v_answer;
    return coalesce(v_answer, 'null');
exception
    when others then
        return 'error ' || sqlstate;
end
$$;

create function iso.check(guard text, seen text, wanted text)
returns text
language sql
as $$
    select case when $2 is not distinct from $3 then 'ok ' || $1
                else format('not ok %s: "%s" instead of "%s"', $1, $2, $3) end
$$;

-- A run that w1 holds; or had, and w2 holds now; nothing about it is special.
create function iso.hold()
returns void
language plpgsql
as $$
begin
    perform iso.reset();
    perform iso.trigger('r');
    perform iso.claim('w1');
end
$$;

create function iso.change_hands()
returns void
language plpgsql
as $$
begin
    perform iso.hold();
    perform iso.commit('r', 'w1', 'release', null, null);
    perform iso.claim('w2');
end
$$;

\set QUIET on
\pset tuples_only on
\pset format unaligned
\o /dev/null

-- Commit, set-wise.
select iso.change_hands();
\o
select iso.check('fence', iso.try($$select concat_ws(', ', iso.commit('r', 'w1', 'step', 's#1'), iso.commit('r', 'w1', 'complete'))$$),
    'lease_lost, lease_lost');
\o /dev/null
select iso.hold();
select pawl.cancel(array[iso.id('r')]);
\o
select iso.check('plain', iso.try($$select iso.commit('r', 'w1', 'complete')$$), 'cancelled');
\o /dev/null
select iso.hold();
select pawl.raise_epoch('test');
\o
select iso.check('epoch', iso.try($$select iso.commit('r', 'w1', 'step', 's#1')$$), 'lease_lost');
\o /dev/null
select iso.hold();
update pawl_data.setting set payload_max = 100;
\o
select iso.check('payload_max', iso.try($$select iso.commit('r', 'w1', 'step', 's#1', to_json(repeat('x', 200))::text)$$), 'refused');
\o /dev/null
update pawl_data.setting set payload_max = 1048576;
select iso.hold();
\o
select iso.check('step_name', iso.try($$select iso.commit('r', 'w1', 'step', 'No Name')$$), 'refused');

-- Commit, item by item.
\o /dev/null
select iso.change_hands();
\o
select iso.check('item_fence', iso.try($$select iso.commit('r', 'w1', 'sleep', 'nap#1', null, '{"ms": 1000}')$$), 'lease_lost');
\o /dev/null
select iso.hold();
select pawl.cancel(array[iso.id('r')]);
\o
select iso.check('item_cancel', iso.try($$select iso.commit('r', 'w1', 'begin', 'u#1', '{}', '{"undo": {"handler": "h"}}')$$), 'cancelled');
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'step', 's#1', '"first"');
select answer from pawl.step(iso.session('w1'), iso.id('r'), 1, 's', '"second"');
\o
select iso.check('first_write_wins', (select s.output #>> '{}' from pawl_data.step s), 'first');
\o /dev/null
-- An undo is skipped, and again when the rollback has stopped at another one.
select iso.hold();
select iso.commit('r', 'w1', 'begin', 'a#1', '{}', '{"undo": {"handler": "h"}}');
select iso.commit('r', 'w1', 'begin', 'b#1', '{}', '{"undo": {"handler": "h"}}');
select iso.commit('r', 'w1', 'fail', null, '{}', '{"final": true}');
select iso.claim('w1');
select iso.commit('r', 'w1', 'fail', null, '{}', '{"final": true}');
select pawl.rollback_skip(iso.id('r'), 'b#1');
select iso.claim('w1');
select iso.commit('r', 'w1', 'fail', null, '{}', '{"final": true}');
select pawl.rollback_skip(iso.id('r'), 'b#1');
\o
select iso.check('record_once', (select count(*)::text from pawl_data.step s where s.name = 'rollback:b#1'), '1');
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'event', 'e#1', null, '{"topic": "t"}');
select iso.emit('t');
select iso.commit('r', 'w1', 'suspend', null, null);
\o
select iso.check('suspend_woken', iso.state('r'), 'QUEUED r1 f1, steps e#1=SUCCESS');

-- Waits.
\o /dev/null
select iso.hold();
select iso.emit('t');
\o
select iso.check('wait_looks_back', iso.try($$select iso.commit('r', 'w1', 'event', 'e#1', null, '{"topic": "t"}')$$), 'ok SUCCESS');
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'event', 'e#1', null, '{"topic": "t"}');
select pawl.cancel(array[iso.id('r')]);
select pawl._settle(t, w, 's', 'null', null, null, pawl.now()) from pawl_data.task t join pawl_data.wait w using (run_id);
\o
select iso.check('settle_cancelled', (select count(*)::text from pawl_data.step), '0');
-- An event that two waits of one run match.
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'event', 'e#1', null, '{"topic": "t"}');
select iso.commit('r', 'w1', 'event', 'e#2', null, '{"topic": "t"}');
select iso.emit('t');
\o
select iso.check('deliver_once', iso.state('r'), 'RUNNING r1 f1 woken, steps e#1=SUCCESS, waits e#2');
-- A wait that is settled again, by somebody who read it before: nothing happens, the run is not even woken.
\o /dev/null
select iso.hold();
select iso.wait('r', 'w1', 'signal', 'g#1', '{"signal": "go"}');
create temporary table seen as select w from pawl_data.wait w;
select iso.signal('r', 'go');
select iso.claim('w1');
select iso.wait('r', 'w1', 'signal', 'h#1', '{"signal": "on"}');
select pawl._settle(t, s.w, 's', '"late"', null, null, pawl.now()) from seen s, pawl_data.task t;
\o
select iso.check('settle_once', iso.state('r'), 'PAUSED signal r1 f2, steps g#1=SUCCESS, waits h#1');

-- The transactional step.
\o /dev/null
select iso.change_hands();
\o
select iso.check('token_fence', iso.try($$select iso.record_step('r', 'w1', 's#1')$$), 'error PW005');
\o /dev/null
select iso.hold();
select pawl.raise_epoch('test');
\o
select iso.check('token_epoch', iso.try($$select iso.record_step('r', 'w1', 's#1')$$), 'error PW012');
\o /dev/null
select iso.hold();
select pawl.cancel(array[iso.id('r')]);
\o
select iso.check('token_cancel', iso.try($$select iso.record_step('r', 'w1', 's#1')$$), 'error PW006');

-- Sessions and the sweep.
\o /dev/null
select iso.hold();
select pawl.raise_epoch('test');
\o
select iso.check('session_epoch', iso.try($$select iso.claim('w2')$$), 'error PW012');
\o /dev/null
select iso.hold();
select from iso.moves_on('1 min');
select pawl.housekeep();
\o
select iso.check('heartbeat_session', iso.try($$select count(*) from pawl.heartbeat(iso.session('w1'))$$), 'error PW005');
select iso.check('sweep_fence', iso.try($$select iso.commit('r', 'w1', 'fail')$$), 'lease_lost');
\o /dev/null
select iso.hold();
select pawl.housekeep();
\o
select iso.check('sweep_lease', iso.state('r'), 'RUNNING r1 f1');
-- A round that began before the heartbeat.
select pawl.now() as began \gset
\o /dev/null
select from iso.moves_on('1 s');
select pawl.heartbeat(iso.session('w1'));
select pawl._sweep(:'began', 500, null, false);
\o
select iso.check('sweep_clock', (select (w.lease_until - pawl.now() = w.lease)::text from pawl_data.worker w where w.session_id = iso.session('w1')), 'true');
select iso.check('running_form', iso.try($$select count(*) from pawl.heartbeat(iso.session('w1'), '[{"run": "?"}]')$$), 'error PW003');
-- Ended by its time limit; the worker must not take the end for its own.
\o /dev/null
select iso.reset();
select pawl.alter_workflow('sub', '{"run_timeout": "1 min"}');
select iso.trigger('r', workflow => 'sub');
select iso.claim('w1');
select from iso.moves_on('2 min');
update pawl_data.worker set lease_until = pawl.now() + lease;
select pawl.housekeep();
select pawl.alter_workflow('sub', '{"run_timeout": null}');
\o
select iso.check('limit_fence', iso.try($$select iso.commit('r', 'w1', 'complete')$$), 'lease_lost');
-- The same when the time limit starts a rollback.
\o /dev/null
select iso.reset();
select pawl.alter_workflow('sub', '{"run_timeout": "1 min"}');
select iso.trigger('r', workflow => 'sub');
select iso.claim('w1');
select iso.commit('r', 'w1', 'begin', 'a#1', '{}', '{"undo": {"handler": "h"}}');
select from iso.moves_on('2 min');
update pawl_data.worker set lease_until = pawl.now() + lease;
select pawl.housekeep();
select pawl.alter_workflow('sub', '{"run_timeout": null}');
\o
select iso.check('rollback_fence', iso.try($$select iso.commit('r', 'w1', 'complete')$$), 'lease_lost');
-- A suspect is only for a worker with nothing else in its hands.
\o /dev/null
select iso.hold();
select iso.trigger('suspect');
update pawl_data.task set crashes = 2, place = 's' where run_id = iso.id('suspect');
\o
select iso.check('quiet', iso.try($$select count(*) from pawl.claim(iso.session('w1'), quiet => true)$$), '0');

-- Operators.
\o /dev/null
select iso.hold();
select pawl.cancel(array[iso.id('r')]);
\o
select iso.check('cancel_marks', iso.try($$select iso.commit('r', 'w1', 'step', 's#1')$$), 'cancelled');
-- Killed while it rolled back: only the fence tells that from a rollback that its worker has finished.
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'begin', 'u#1', '{}', '{"undo": {"handler": "h"}}');
select iso.commit('r', 'w1', 'fail', null, '{}', '{"final": true}');
select iso.claim('w1');
select pawl.kill(array[iso.id('r')]);
\o
select iso.check('kill_fence', iso.try($$select iso.commit('r', 'w1', 'complete')$$), 'cancelled');
\o /dev/null
select iso.hold();
\o
select iso.check('fork_state', iso.try($$select answer from pawl.fork(iso.id('r'))$$), 'refused');
\o /dev/null
select iso.commit('r', 'w1', 'complete');
\o
select iso.check('retry_status', iso.try($$select answer from pawl.retry(array[iso.id('r')])$$), 'refused');
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'fail', null, '{}', '{"final": true}');
select pawl.retry(array[iso.id('r')]);
\o
select iso.check('purge_ended', iso.try($$select answer from pawl.purge(array[iso.id('r')])$$), 'refused');
\o /dev/null
do $$
begin
    create role pawl_mutants_bound login;
exception
    when duplicate_object or unique_violation then
        null;
end
$$;
select pawl.grant_role('pawl_mutants_bound', 'operator', tenant => 'theirs');
grant usage on schema iso to pawl_mutants_bound;
set session authorization pawl_mutants_bound;
\o
select iso.check('only_unbound', iso.try($$select pawl.raise_epoch('not mine')$$), 'error PW007');
reset session authorization;
-- A mark from which a claim may start to look counts for two seconds; what it hides is found then.
\o /dev/null
select iso.reset();
select iso.trigger('r');
insert into pawl_data.queue_mark (queue_id, priority, marked_at, walked_at, due_from, xid, open_xids)
select t.queue_id, t.priority, pawl.now() - interval '10 s', pawl.now() - interval '10 s', pawl.now() + interval '1 s', pg_current_xact_id(), '{}'
from pawl_data.task t;
\o
select iso.check('mark_expires', iso.try($$select iso.claim('w1')$$), 'r fence 1');

-- Retry policy.
\o /dev/null
select iso.hold();
select iso.commit('r', 'w1', 'retry', 's#1', '{}', '{"failure": 1}');
select iso.commit('r', 'w1', 'retry', 's#1', '{}', '{"failure": 1}');
\o
select iso.check('failure_once', (select t.retries -> 's#1' ->> 'n' from pawl_data.task t), '1');
select iso.check('backoff_cap', pawl._backoff(20, '1 s', 2, '10 min', 0)::text, '00:10:00');
select iso.check('backoff_jitter', (
    select (count(distinct d) > 10 and min(d) >= interval '0.8 s' and max(d) <= interval '1.2 s')::text
    from (select pawl._backoff(1, '1 s', 2, '10 min', 0.2) from generate_series(1, 100)) s (d)), 'true');

-- Flows. A run of the flow f whose steps a and b w1 holds.
\o /dev/null
create function iso.hold_flow(flow text default 'f')
returns void
language plpgsql
as $$
begin
    perform iso.reset();
    perform iso.trigger('r', workflow => flow);
    perform iso.claim('w1', 10);
end
$$;
select iso.hold_flow();
select iso.task('r', 'w1', 'a', 'complete');
select iso.task('r', 'w1', 'b', 'complete');
\o
select iso.check('gate_counts', iso.claim('w1', 10), 'r fence 1');
select iso.check('flow_frozen', iso.try($$select pawl.add_step('f', 'd')$$), 'error PW003');
\o /dev/null
select iso.hold_flow();
select iso.task('r', 'w1', 'a', 'fail');
select iso.task('r', 'w1', 'b', 'complete');
select pawl.retry(array[iso.id('r')]);
select iso.claim('w1', 10);
\o
select iso.check('round_fence', (select c.answer from pawl.commit(iso.session('w1'), array[iso.id('r')], array[1], array['complete'],
    payloads => array['1'], tasks => array[iso.task_no('a')]) c), 'lease_lost');
\o /dev/null
select pawl.create_flow('if');
select pawl.add_step('if', 'a', '{}', '{"condition": {"/run": 9}}');
select iso.reset();
select iso.trigger('r', workflow => 'if');
\o
select iso.check('flow_condition', iso.state('r'), 'ended SUCCESS f0, steps a=SKIPPED');
-- One step is held, one is skipped, one fails the run: what depends on the skipped one does not start.
\o /dev/null
select pawl.create_flow('stop', max_attempts => 1);
select pawl.add_step('stop', 'a'), pawl.add_step('stop', 'held');
select pawl.add_step('stop', 'skip', '{a}', '{"condition": {"/run": 9}}');
select pawl.add_step('stop', 'must', '{a}', '{"condition": {"/run": 9}, "unmet": "fail"}');
select pawl.add_step('stop', 'next', '{skip}');
select iso.reset();
update pawl_data.worker set handles = '{*}', queue_ids = array(select queue_id from pawl_data.queue);
select iso.trigger('r', workflow => 'stop');
select iso.claim('w1', 10);
select pawl.commit(iso.session('w1'), array[iso.id('r')], array[1], array['complete'], payloads => array['1'], tasks => array[1000000]);
\o
select iso.check('advance_ending', (select string_agg(t.task_no::text, ' ') from pawl_data.task t where t.task_no > 0), '2000000');
-- A task that is left over in a flow that is to end is not claimed.
\o /dev/null
select iso.reset();
select iso.trigger('r', workflow => 'f');
update pawl_data.task set ending = '{"status": 2, "error": {}, "rollback": true}' where task_no = 0;
\o
select iso.check('claim_ending', iso.claim('w1', 10), 'nothing');
-- A run that rolls back, claimed together with a task that ran before.
\o /dev/null
select pawl.create_flow('undo', max_attempts => 1);
select pawl.add_step('undo', 'a', '{}', '{"undo": "back"}');
select pawl.add_step('undo', 'b', '{a}');
select iso.reset();
update pawl_data.worker set handles = '{*}', queue_ids = array(select queue_id from pawl_data.queue);
select iso.trigger('r', workflow => 'undo');
select iso.claim('w1', 10);
select pawl.commit(iso.session('w1'), array[iso.id('r')], array[1], array['complete'], payloads => array['1'], tasks => array[1000000]);
select iso.claim('w1', 10);
select pawl.commit(iso.session('w1'), array[iso.id('r')], array[1], array['fail'], payloads => array['{}'], tasks => array[2000000]);
select iso.trigger('o', workflow => 'f');
update pawl_data.task set execution = 1 where run_id = iso.id('o') and task_no = iso.task_no('b');
update pawl_data.task set place = 'w', due_at = 'infinity' where run_id = iso.id('o') and task_no = iso.task_no('a');
\o
select iso.check('rollback_sees_all', (
    select string_agg(c.record -> 'undos' -> 0 ->> 'name', ' ') from pawl.claim(iso.session('w1'), 10) c where c.rolling_back), 'a#1');
-- Limits of maps.
\o /dev/null
select pawl.create_flow('map');
select pawl.add_step('map', 'each', '{}', '{"map": "run"}');
select pawl.add_step('map', 'all', '{each}');
select iso.reset();
update pawl_data.worker set handles = '{*}', queue_ids = array(select queue_id from pawl_data.queue);
insert into iso.run select 'many', t.run_id from pawl.trigger('map', ('[' || repeat('1,', 100000) || '1]')::json) t;
insert into iso.run select 'large', t.run_id from pawl.trigger('map', '[1]') t;
begin;
create or replace function pawl._gather_max() returns bigint language sql immutable as 'select 10::bigint';
select pawl.commit(iso.session('w1'), array[c.run_id], array[c.fence], array['complete'], payloads => array['"more than ten"'], tasks => array[c.task])
from pawl.claim(iso.session('w1'), 1) c;
\o
select iso.check('map_max', (select r.error ->> 'code' from pawl.result(iso.id('many')) r), 'too_many_elements');
select iso.check('gather_max', (select r.error ->> 'code' from pawl.result(iso.id('large')) r), 'output_too_large');
\o /dev/null
rollback;
\o

-- Refusals that no file of tests/sql shows alone.
\o /dev/null
select iso.hold();
select pawl.cancel(array[iso.id('r')]);
\o
select iso.check('signal_cancelled', iso.try($$select iso.signal('r', 'go')$$), 'error PW006');
select iso.check('grant_role_exists', iso.try($$select pawl.grant_role('pawl_mutants_nobody', 'worker')$$), 'error PW001');
select iso.check('workflow_name', iso.try($$select pawl.create_workflow('No Name')$$), 'error PW003');
select iso.check('payload_limits', iso.try($$select * from pawl.emit('t', to_json(repeat('x', 1100000)))$$), 'error PW009');
\o /dev/null
select iso.reset();
create temporary table made as select pawl.make_id() as id;
select from pawl.trigger('sub', '{}', id => (select m.id from made m));
\o
select iso.check('id_without_key', iso.try($$select run_id from pawl.trigger('sub', '{}', id => (select m.id from made m), key => 'other')$$),
    'error PW004');
\o /dev/null
select iso.hold_flow();
\o
select iso.check('task_ends_once', iso.try($$select count(*) from pawl.commit(iso.session('w1'), array[iso.id('r'), iso.id('r')], array[1, 1],
    array['complete', 'complete'], payloads => array['1', '2'], tasks => array[iso.task_no('a'), iso.task_no('a')])$$), 'error PW010');
\o /dev/null
select iso.hold();
select from iso.moves_on('1 min');
select pawl.housekeep();
\o
select iso.check('session_ended', iso.try($$select count(*) from pawl.claim(iso.session('w1'))$$), 'error PW005');
\o /dev/null
select pawl.create_flow('long');
insert into pawl_data.flow_step (workflow_id, step_no, name, deps, plain, heavy_deps, options)
select w.workflow_id, n, 's' || n, '{}', true, '{}', '{}' from pawl_data.workflow w, generate_series(1, 2000) n where w.name = 'long';
\o
select iso.check('flow_steps_max', iso.try($$select pawl.add_step('long', 'more')$$), 'error PW009');
