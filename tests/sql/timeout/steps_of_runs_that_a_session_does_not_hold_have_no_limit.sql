-- SPDX-License-Identifier: Apache-2.0
-- A heartbeat may report any steps. Housekeeping reads the report of a session only when a step of a task that it holds is over its limit.
select plan(5);
select t.stop_clock() \gset
select t.session(lease => '1 day') as s \gset
select t.session(lease => '1 day') as other \gset
select run_id as r, fence as f from t.held(:s) \gset
create function pg_temp.due(session bigint) returns text language sql as
    $$select coalesce(nullif(w.next_limit_at, 'infinity') - pawl.now(), '-1 s')::text from pawl_data.worker w where w.session_id = session$$;
create function pg_temp.report(session bigint, run uuid, ms float8) returns text language sql as $$
    select pawl.heartbeat(session, json_build_array(json_build_object('run', run, 'step', 'slow#1', 'started_ms', 400, 'timeout_ms', ms),
        json_build_object('run', run, 'step', 'free#1', 'started_ms', 400)))::text $$;
select pg_temp.report(:s, :'r', 60400) \g /dev/null
select is(pg_temp.due(:s), '00:01:05', 'a step of its own, with five seconds more');
select pg_temp.report(:other, :'r', 60400) \g /dev/null
select is(pg_temp.due(:other), '-00:00:01', 'a task of another session');
select pg_temp.report(:s, :'r', 60400) \g /dev/null
select pawl.heartbeat(:s) \g /dev/null
select is(pg_temp.due(:s), '-00:00:01', 'a report without steps');
select pg_temp.report(:s, :'r', 60400) \g /dev/null
select t.later('2 min') \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'a step that hangs is taken');
select pg_temp.report(:s, :'r', 1) \g /dev/null
select is(pg_temp.due(:s), '-00:00:01', 'after that it has no limit any more, however long it is reported');
select * from finish();
