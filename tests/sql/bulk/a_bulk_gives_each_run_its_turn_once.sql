-- SPDX-License-Identifier: Apache-2.0
-- begin_bulk: housekeeping does the rest, by its rate, and each run once.
select plan(51);
select t.session() as s \gset
select pawl.create_workflow('b.flow', max_attempts => 1) \g /dev/null
select pawl.create_workflow('other.flow', max_attempts => 1) \g /dev/null
select count(*) from pawl.trigger_many('b.flow', array_fill('{}'::json, array[450])) \g /dev/null
select run_id as other from pawl.trigger('other.flow') \gset
-- All fail.
create function pg_temp.fail_all(s bigint) returns bigint language sql as $$
    with c as materialized (select c.* from pawl.claim(s, 1000) c),
         i as (select array_agg(c.run_id) as runs, array_agg(c.fence) as fences, count(*) as n from c)
    select count(*) from i cross join lateral pawl.commit(s, i.runs, i.fences, array_fill('fail'::text, array[i.n::int]), null,
        array_fill('"broken"'::text, array[i.n::int]), null, null, null, array_fill('{"final": true}'::text, array[i.n::int])) k
    where k.answer = 'ok'
$$;
select is(pg_temp.fail_all(:s), 451::bigint, 'all have failed');
select t.later('1 s', :s);

select * from pawl.preview_bulk('retry', '{"workflow": "b.*", "status": "ERROR"}') \gset
select is(:runs, 450, 'a preview counts');
select is(:'runs_shown'::text, '450', 'and shows the count');
select results_eq(format($$select f ->> 'run_id', f ->> 'status', f ->> 'workflow' from json_array_elements(%L::json) f$$, :'first_runs'),
    $$select run_id::text, status, workflow from pawl.list_runs(only_workflow => 'b.flow', max_rows => 5)$$, 'and the newest five');
select throws_ok(format($$select pawl.begin_bulk('retry', %L, digest => %L)$$, '{"workflow": "other.*", "status": "ERROR"}', :'digest'), 'PW007', null, 'another filter than that of the preview');
select throws_ok(format($$select pawl.begin_bulk('purge', %L, digest => %L)$$, :'full_filter', :'digest'), 'PW007', null, 'another action');
select pawl.begin_bulk('retry', :'full_filter', 500, 'fixed', 'ada', :'digest') as bulk \gset
select results_eq($$select act, state, handled, started_by, why from pawl.list_bulks()$$, $$values ('retry', 'running', 0::bigint, 'ada', 'fixed')$$, 'it is listed');
select run_id as late from pawl.trigger('b.flow') \gset
select is(pg_temp.fail_all(:s), 1::bigint, 'a run that was triggered later fails, too');
begin;
update pawl_data.chore set due_at = 'infinity';
select is(pawl._tick_pieces(pawl.now()) @> array[7], true, 'a tick has something to do');
select pawl.housekeep() \g /dev/null
select is((select handled > 0 from pawl.list_bulks()), true, 'housekeeping continues it');
rollback;
select pawl._next_bulk(pawl.now(), null) \g /dev/null
select is((select handled from pawl.list_bulks()) <= 200, true, 'a piece has at most 200 runs');
-- Without time nothing more than a fifth of a second of its rate. A slow server does less in a piece.
select pawl._next_bulk(pawl.now(), null) from generate_series(1, 20) \g /dev/null
select is((select handled between 1 and 100 from pawl.list_bulks()), true, 'no more before its time');
-- Housekeeping until a bulk has handled so many runs, or has ended.
create function pg_temp.go_on(s bigint, until bigint) returns void language plpgsql as $$
begin
    for i in 1..100 loop
        exit when exists (select from pawl.list_bulks(max_rows => 1) where handled >= until or state <> 'running')
            -- No bulk of this test has as many turns: one that never ends would take its time.
            or exists (select from pawl.list_bulks() where handled > 500);
        perform t.later('0.2 s', s);
    end loop;
end
$$;
select pg_temp.go_on(:s, 200);
select handled from pawl.list_bulks() \gset
select is(:handled between 200 and 300, true, 'then the next pieces');
-- These fail again, and must not have another turn.
select is(pg_temp.fail_all(:s), :handled::bigint, 'those that were retried fail again');
select pg_temp.go_on(:s, 451);
select results_eq($$select state, handled, ok, waiting, answers::text from pawl.list_bulks()$$, $$values ('done', 450::bigint, 450::bigint, 0, '{"ok": 450}')$$, 'done');
select is((select max(r.round) from pawl_data.run r), 2::smallint, 'no run was retried twice');
select is(t.state(:'late'), 'ERROR', 'a run that was triggered later has no turn');
select is(t.state(:'other'), 'ERROR', 'nor has one of another workflow');
select is((select count(distinct a.run_id) from pawl_data.audit a where a.who = 'ada (bulk ' || :bulk || ')'), 450::bigint, 'the audit log of each run names the bulk');
select results_eq($$select what, who from pawl.list_actions()$$, $$values ('begin_bulk', 'ada')$$, 'an action is on record');
select t.later('1 s', :s);
select is((select handled from pawl.list_bulks()), 450::bigint, 'nothing happens after that');

-- Stopping.
select pawl.begin_bulk('cancel', '{"workflow": "b.flow", "status": "QUEUED"}', 10) as bulk \gset
select pawl._next_bulk(pawl.now(), null) \g /dev/null
select is((select handled from pawl.list_bulks(max_rows => 1)), 2::bigint, 'ten in a second');
select is(pawl.stop_bulk(:bulk, 'ben'), 'ok', 'stopped');
select is(pawl.stop_bulk(:bulk, 'ben'), 'already', 'twice: already');
select is(pawl.stop_bulk(99999), 'not_found', 'one that there is not');
select t.later('1 min', :s);
select results_eq($$select state, handled, stopped_by from pawl.list_bulks(max_rows => 1)$$, $$values ('stopped', 2::bigint, 'ben')$$, 'no run has its turn after that');
select is((select count(*) from pawl.list_bulks(only_running => true)), 0::bigint, 'none runs');

-- Every action.
select pawl.begin_bulk(a, '{"workflow": "b.flow"}', 1000) as bulk from unnest(array['pause']) a \gset
select pg_temp.go_on(:s, 10000);
select is((select ok from pawl.list_bulks(max_rows => 1)), (select count(*) from pawl_data.task where paused is not null), 'pause');
select pawl.begin_bulk('resume', '{"workflow": "b.flow"}', 1000) \g /dev/null
select pg_temp.go_on(:s, 10000);
select is((select count(*) from pawl_data.task where paused is not null), 0::bigint, 'resume');
select run_id as w from pawl.trigger('b.flow', delay => '1 hour') \gset
select t.later('1 ms', :s);
select pawl.begin_bulk('wake', '{"workflow": "b.flow"}') \g /dev/null
select pg_temp.go_on(:s, 10000);
select is(t.state(:'w'), 'QUEUED', 'wake');
select pawl.begin_bulk('cancel', '{"workflow": "b.*", "status": "QUEUED"}', 1000) \g /dev/null
select pg_temp.go_on(:s, 10000);
select is((select count(*) from pawl_data.task), 0::bigint, 'cancel');
select pawl.begin_bulk('purge', '{"workflow": "other.flow", "status": "ERROR"}', 1000, 'old', 'ada') \g /dev/null
select pg_temp.go_on(:s, 10000);
select is((select count(*) from pawl.list_runs(only_workflow => 'other.flow')), 0::bigint, 'purge');

select run_id as a from pawl.trigger('b.flow') \gset
select t.later('1 s', :s);
select pawl.begin_bulk('kill', '{"workflow": "b.flow"}', why => 'broken', by => 'ada') \g /dev/null
select pg_temp.go_on(:s, 10000);
select is(t.state(:'a'), 'CANCELLED', 'kill');

-- Options of one action.
select run_id as a, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'a', :f, 'begin', 'pay#1', null, '{"undo": {"handler": "refund"}}'), 'ok', 'a step with an undo');
select is((select answer from pawl.sleep(:s, :'a', :f, 'nap', '1 day')), 'ok', 'its run sleeps');
select t.later('1 s', :s);
select pawl.begin_bulk('wake', '{"status": "PAUSED"}', step => 'other') \g /dev/null
select pg_temp.go_on(:s, 10000);
select matches(t.state(:'a'), '^PAUSED', 'wake of another step leaves it alone');
select pawl.begin_bulk('cancel', '{"status": "PAUSED"}', rollback => true) \g /dev/null
select pg_temp.go_on(:s, 10000);
select is(t.state(:'a'), 'QUEUED', 'cancelled with a rollback, it has not ended yet');
select is((select count(*) from pawl.list_actions() where detail ->> 'rollback' = 'true'), 1::bigint, 'and the rollback is on record');

-- What is refused.
select throws_ok($$select pawl.begin_bulk('retry', '{}', rollback => true)$$, 'PW003', null, 'a rollback belongs to cancel');
select throws_ok($$select pawl.begin_bulk('cancel', '{}', step => 'x')$$, 'PW003', null, 'a step belongs to wake');
select lives_ok($$select pawl.stop_bulk(pawl.begin_bulk('retry', '{}', rollback => null))$$, 'no rollback is none');
select throws_ok($$select pawl.begin_bulk('fork', '{}')$$, 'PW003', null, 'an action that a bulk does not do');
select throws_ok($$select pawl.begin_bulk('retry', '[]')$$, 'PW003', null, 'a filter that is no object');
select throws_ok($$select pawl.begin_bulk('retry', '{"colour": "red"}')$$, 'PW003', null, 'a member that there is not');
select throws_ok($$select pawl.begin_bulk('retry', '{"status": "SUCCESS"}')$$, 'PW003', null, 'a state that the action does not apply to');
select throws_ok($$select pawl.begin_bulk('retry', '{"since": "soon"}')$$, 'PW003', null, 'a time that is none');
select throws_ok($$select pawl.begin_bulk('retry', '{}', 0)$$, 'PW003', null, 'no rate');
select throws_ok($$select pawl.begin_bulk('retry', '{}', 'NaN')$$, 'PW003', null, 'nor this one');
select lives_ok($$select pawl.begin_bulk('retry', '{"workflow": "no.such"}') from generate_series(1, 100)$$, 'a hundred at a time');
select throws_ok($$select pawl.begin_bulk('retry', '{}')$$, 'PW007', null, 'and no more');
select lives_ok($$select pawl.begin_bulk('retry', '{"tenant": "acme"}')$$, 'a tenant has its own hundred');
select * from finish();
