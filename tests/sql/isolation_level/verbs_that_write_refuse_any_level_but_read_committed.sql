-- SPDX-License-Identifier: Apache-2.0
select * from no_plan();
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create temporary table verb (call text);
insert into verb select format(c, :s, :'r', :f) from unnest(array[
    $$select pawl.create_workflow('other.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.alter_workflow('test.flow', '{"priority": 1}') /* %1$s %2$L %3$s */$$,
    $$select pawl.create_flow('f.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.add_step('f.flow', 'a') /* %1$s %2$L %3$s */$$,
    $$select * from pawl.apply_flow('{"flow": "f.flow", "steps": []}') /* %1$s %2$L %3$s */$$,
    $$select pawl.delete_flow('f.flow') /* %1$s %2$L %3$s */$$,
    $$select * from pawl.register('w', '{*}') /* %1$s %2$L %3$s */$$,
    $$select * from pawl.heartbeat(%1$s) /* %2$L %3$s */$$,
    $$select pawl.rest(%1$s) /* %2$L %3$s */$$,
    $$select pawl.pass_on(%1$s) /* %2$L %3$s */$$,
    $$select pawl.leave(%1$s) /* %2$L %3$s */$$,
    $$select * from pawl.claim(%1$s) /* %2$L %3$s */$$,
    $$select * from pawl.commit(%1$s, array[%2$L::uuid], array[%3$s], array['complete'], payloads => array['1'])$$,
    $$select * from pawl.commit_each(%1$s, array[%2$L::uuid], array[%3$s], array['complete'], payloads => array['1'])$$,
    $$select * from pawl.step(%1$s, %2$L, %3$s, 'x')$$,
    $$select * from pawl.complete(%1$s, %2$L, %3$s)$$,
    $$select * from pawl.fail(%1$s, %2$L, %3$s)$$,
    $$select * from pawl.sleep(%1$s, %2$L, %3$s, 'x', '1 s')$$,
    $$select * from pawl.wait_event(%1$s, %2$L, %3$s, 'x', 'y')$$,
    $$select * from pawl.wait_signal(%1$s, %2$L, %3$s, 'x')$$,
    $$select * from pawl.release(%1$s, %2$L, %3$s)$$,
    $$select * from pawl.cancel(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select * from pawl.kill(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select * from pawl.pause(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select * from pawl.resume(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select * from pawl.wake(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select * from pawl.retry(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select * from pawl.rollback_retry(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select pawl.rollback_skip(%2$L, 'x') /* %1$s %3$s */$$,
    $$select * from pawl.fork(%2$L) /* %1$s %3$s */$$,
    $$select * from pawl.purge(array[%2$L::uuid]) /* %1$s %3$s */$$,
    $$select pawl.pause_workflow('test.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.resume_workflow('test.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.begin_bulk('retry', '{}') /* %1$s %2$L %3$s */$$,
    $$select pawl.stop_bulk(1) /* %1$s %2$L %3$s */$$,
    $$select pawl.pause_all() /* %1$s %2$L %3$s */$$,
    $$select pawl.resume_all() /* %1$s %2$L %3$s */$$,
    $$select pawl.pause_queue('test.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.resume_queue('test.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.drain_worker(%1$s) /* %2$L %3$s */$$,
    $$select pawl.raise_epoch('x') /* %1$s %2$L %3$s */$$,
    $$select * from pawl.set_retention('1 day') /* %1$s %2$L %3$s */$$,
    $$select pawl.set_session_limit(5) /* %1$s %2$L %3$s */$$,
    $$select * from pawl.set_notify('off') /* %1$s %2$L %3$s */$$,
    $$select pawl.set_lane('test.flow', 'x', 5) /* %1$s %2$L %3$s */$$,
    $$select pawl.pause_lane('test.flow', 'x') /* %1$s %2$L %3$s */$$,
    $$select pawl.resume_lane('test.flow', 'x') /* %1$s %2$L %3$s */$$,
    $$select pawl.create_schedule('s', 'test.flow', every => '1 h') /* %1$s %2$L %3$s */$$,
    $$select pawl.pause_schedule('s') /* %1$s %2$L %3$s */$$,
    $$select pawl.resume_schedule('s') /* %1$s %2$L %3$s */$$,
    $$select pawl.delete_schedule('s') /* %1$s %2$L %3$s */$$,
    $$select * from pawl.backfill_schedule('s', pawl.now(), pawl.now()) /* %1$s %2$L %3$s */$$,
    $$select pawl.create_subscription('s', 't', 'test.flow') /* %1$s %2$L %3$s */$$,
    $$select pawl.pause_subscription('s') /* %1$s %2$L %3$s */$$,
    $$select pawl.resume_subscription('s') /* %1$s %2$L %3$s */$$,
    $$select pawl.delete_subscription('s') /* %1$s %2$L %3$s */$$,
    $$select pawl.create_token('t', sha256('1'), '{reader}') /* %1$s %2$L %3$s */$$,
    $$select pawl.revoke_token('t') /* %1$s %2$L %3$s */$$,
    $$select pawl.housekeep() /* %1$s %2$L %3$s */$$,
    $$select pawl.grant_role(current_user, 'reader') /* %1$s %2$L %3$s */$$,
    $$select pawl.revoke_role(current_user, 'reader') /* %1$s %2$L %3$s */$$]) c;
create temporary table seen as
select p.oid, p.proname from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.provolatile = 'v' and p.proname not like '\_%'
  and p.proname not in ('now', 'make_id', 'trigger', 'trigger_many', 'emit', 'signal', 'approve', 'reject', 'record_step', 'held', 'tick', 'act_as_token', 'test_clock_set', 'test_clock_advance');
begin isolation level repeatable read;
select throws_ok(call, 'PW008', null, 'repeatable read: ' || split_part(split_part(call, '(', 1), ' ', -1)) from verb;
commit;
begin isolation level serializable;
select throws_ok(call, 'PW008', null, 'serializable: ' || split_part(split_part(call, '(', 1), ' ', -1)) from verb;
commit;
select is((select string_agg(s.proname, ' ') from seen s where not exists (select from verb v where v.call ~ ('pawl[.]' || s.proname || '[(]'))), null, 'every public function that writes was tried');
select * from finish();
