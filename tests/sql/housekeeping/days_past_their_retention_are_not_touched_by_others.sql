-- SPDX-License-Identifier: Apache-2.0
-- Another transaction holds the tables of the oldest days, as the one that empties them does. A statement that waits is cancelled after 20 s.
select plan(23);
set statement_timeout = '20s';
select t.session(lease => '1 hour') as s \gset
select pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date - 60) from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag', 'event']) t \g /dev/null
select to_char(pawl.now() at time zone 'UTC' - interval '60 days', 'YYYYMMDD') as day \gset
select t.run() from generate_series(1, 5) \g /dev/null
select run_id as r, fence as f from t.one(:s) \gset
insert into pawl_data.key select workflow_id, null, pawl._id_make(pawl.now() - interval '60 days'), '', 'old', '' from pawl_data.workflow where name = 'test.flow';
select t.other_holds(format('select count(*)::text from (select 1) x')) \g /dev/null
select t.dblink_exec('other', format('lock table only pawl_data.run_%1$s, pawl_data.input_%1$s, pawl_data.step_%1$s, pawl_data.audit_%1$s, pawl_data.note_%1$s, pawl_data.event_%1$s in access exclusive mode', :'day')) \g /dev/null
create function pg_temp.lives(q text) returns text language plpgsql as $$
begin
    execute q;
    return pass(split_part(split_part(q, '(', 1), ' ', -1));
exception
    when query_canceled then
        return fail(q);
end
$$;
-- One statement for each, because a limit of time is one statement's.
select format('select pg_temp.lives(%L)', q) from unnest(array[
    'select run_id from pawl.trigger(''test.flow'')',
    'select run_id from pawl.trigger(''test.flow'', id => pawl.make_id(), key => ''k'')',
    'select run_id from pawl.trigger(''test.flow'', key => ''old'')',
    'select run_id from pawl.trigger_many(''test.flow'', array[''1'']::json[], ids => array[pawl.make_id()])',
    format('select run_id from pawl.claim(%s, 2)', :s),
    format('select answer from pawl.step(%s, %L, %s, ''one'')', :s, :'r', :f),
    format('select answer from pawl.wait_event(%s, %L, %s, ''w'', ''x'')', :s, :'r', :f),
    'select answer from pawl.emit(''x'')',
    format('select epoch from pawl.heartbeat(%s)', :s),
    format('select status from pawl.get_run(%L)', :'r'),
    format('select pawl.why(%L)', :'r'),
    format('select what from pawl.history(%L)', :'r'),
    'select run_id from pawl.list_runs()',
    'select run_id from pawl.list_runs(since => pawl.now() - interval ''90 days'')',
    'select event_id from pawl.list_events()',
    'select queue from pawl.list_queues()',
    'select session from pawl.list_workers()',
    'select workflow from pawl.metrics()',
    format('select answer from pawl.cancel(array[%L::uuid])', :'r'),
    format('select answer from pawl.retry(array[%L::uuid])', :'r'),
    'select what from pawl.doctor()',
    'select pawl.housekeep()']) q \gexec
select t.other_done() \g /dev/null
select is((select last_error from pawl_data.chore where chore = 'retention'), null, 'retention has found it locked, and will come again');
select * from finish();
