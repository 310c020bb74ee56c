-- SPDX-License-Identifier: Apache-2.0
select plan(9);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create function many_records(run uuid, first_task int, last_task int, records int) returns bigint language sql as $$
    insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
    select run, n, 1, 's', 's', m, 1, 1, pawl.now(), pawl.now(), 's#' || m, '1'
    from generate_series(first_task, last_task) n, generate_series(1, records) m;
    select count(*) from pawl_data.step
$$;
-- Records read so far in this transaction.
create function records_read() returns bigint language sql as $$
    select sum(coalesce(x.idx_tup_fetch, 0) + x.seq_tup_read)::bigint
    from pg_stat_xact_all_tables x
    where x.schemaname = 'pawl_data' and x.relname ~ '^step(_|$)'
$$;
select many_records(:'r', 0, 0, 3000) as c \gset
-- As autovacuum may do at any time: the statistics are of this run, in which all records are of one task.
analyze pawl_data.step;

begin;
select records_read() as before \gset
select is(t.answer(:s, :'r', :f, 'event', 'a/w#1', null, '{"topic": "go"}', 3001) || ' '
          || t.answer(:s, :'r', :f, 'event', 'b/w#1', null, '{"topic": "go"}', 3002), 'ok ok', 'a run with 3,000 records waits for an event');
select cmp_ok(records_read() - :before, '<', 10::bigint, 'nobody reads them for it');
commit;

begin;
select records_read() as before \gset
select is((select woken from pawl.emit('go', '1')), 1, 'the event comes, for one of its waits');
select cmp_ok(records_read() - :before, '<', 10::bigint, 'nobody reads them for it');
commit;

-- The count itself: what looks for an event that is there has to know which ones the run has taken.
begin;
select records_read() as before \gset
select is((select value ->> 'state' from t.item(:s, :'r', :f, 'event', 'c/w#1', null, '{"topic": "go"}', 3003)), 'PAUSED', 'it has taken the event');
select cmp_ok(records_read() - :before, '>=', 3000::bigint, 'which is read in its records');
rollback;

select t.flow('many.flow', '[["a"]]');
select run_id as r from pawl.trigger('many.flow', '5') \gset
select count(*) from pawl.claim(:s, 10) \gset
select many_records(:'r', 2000001, 2003000, 1) as c \gset
begin;
select records_read() as before \gset
select is((select answer from pawl.wait_event(:s, :'r', 1, 'w', 'come', task => 1000000)), 'ok', 'a task waits in a flow with 3,000 other tasks');
select is((select woken from pawl.emit('come', '2')), 1, 'the event comes');
select cmp_ok(records_read() - :before, '<', 10::bigint, 'nobody reads the records of the others for it');
commit;
select * from finish();
