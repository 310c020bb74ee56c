-- SPDX-License-Identifier: Apache-2.0
-- Every verb that takes an id, called by a role of tenant a with ids of tenant b.
select * from no_plan();
select 'tb_' || current_database() as bound \gset
create role :"bound" login;
select pawl.grant_role(:'bound', r, 'a') from unnest(array['producer', 'worker', 'operator', 'reader']) r \g /dev/null
grant usage on schema public, t to :"bound";
select t.session(name => 'theirs') as s \gset
select pawl.create_workflow('test.flow') \gset
select run_id as live from pawl.trigger('test.flow', tenant => 'b') \gset
select fence as f from t.one(:s) \gset
select run_id as waiting from pawl.trigger('test.flow', tenant => 'b', delay => '1 day') \gset
select run_id as ended from pawl.trigger('test.flow', tenant => 'b') \gset
select answer from pawl.cancel(array[:'ended'::uuid]) \gset
create function outcome(call text) returns text language plpgsql as $$
declare v text;
begin
    execute call into v;
    return coalesce(v, 'nothing');
exception when others then
    return sqlstate;
end $$;
create temporary table try as
select replace(c, '$RUN', quote_literal(x.run)) as call, want, x.run from (values
    ('select status from pawl.get_run($RUN)', 'PW001'),
    ('select status from pawl.result($RUN)', 'PW001'),
    ('select status from pawl.results(array[$RUN::uuid])', 'NOT_FOUND'),
    ('select pawl.why($RUN)', 'PW001'),
    ('select what from pawl.history($RUN)', 'PW001'),
    ('select body from pawl.notes($RUN)', 'PW001'),
    ('select name from pawl.list_waits($RUN)', 'nothing'),
    ('select pawl.signal($RUN, ''go'')', 'PW001'),
    ('select pawl.approve($RUN, ''go'')', 'PW001'),
    ('select pawl.reject($RUN, ''go'')', 'PW001'),
    ('select answer from pawl.cancel(array[$RUN::uuid])', 'not_found'),
    ('select answer from pawl.kill(array[$RUN::uuid])', 'not_found'),
    ('select answer from pawl.pause(array[$RUN::uuid])', 'not_found'),
    ('select answer from pawl.resume(array[$RUN::uuid])', 'not_found'),
    ('select answer from pawl.wake(array[$RUN::uuid])', 'not_found'),
    ('select answer from pawl.retry(array[$RUN::uuid])', 'not_found'),
    ('select answer from pawl.rollback_retry(array[$RUN::uuid])', 'not_found'),
    ('select pawl.rollback_skip($RUN, ''x#1'')', 'not_found'),
    ('select answer from pawl.fork($RUN)', 'not_found'),
    ('select answer from pawl.purge(array[$RUN::uuid])', 'not_found')) v (c, want)
cross join (values (:'live'), (:'waiting'), (:'ended'), (gen_random_uuid()::text)) x (run);
insert into try values
    (format('select held from pawl.list_workers() where session = %s', :s), 'nothing', ''),
    (format('select run_id from pawl.claim(%s)', :s), 'PW005', ''),
    (format('select run_id from pawl.held(%s)', :s), 'PW005', ''),
    (format('select epoch from pawl.heartbeat(%s)', :s), 'PW005', ''),
    (format('select pawl.rest(%s)', :s), 'PW005', ''),
    (format('select pawl.pass_on(%s)', :s), 'PW005', ''),
    (format('select pawl.leave(%s)', :s), 'PW005', ''),
    (format('select pawl.drain_worker(%s)', :s), 'PW007', ''),
    (format('select answer from pawl.step(%s, %L, %s, ''x'')', :s, :'live', :f), 'refused', ''),
    (format('select answer from pawl.complete(%s, %L, %s)', :s, :'live', :f), 'refused', ''),
    (format('select answer from pawl.commit(%s, array[%L::uuid], array[%s], array[''complete''], payloads => array[''1''])', :s, :'live', :f), 'refused', ''),
    (format('select answer from pawl.release(%s, %L, %s)', :s, :'live', :f), 'refused', ''),
    (format('select pawl.record_step(pawl.step_token(%s, %L, %s, ''x''))', :s, :'live', :f), 'PW005', ''),
    ('select run_id from pawl.trigger(''test.flow'', tenant => ''b'')', 'PW001', ''),
    ('select event_id from pawl.emit(''x'', tenant => ''b'')', 'PW001', ''),
    -- What concerns every tenant is refused.
    ('select pawl.pause_workflow(''test.flow'')', 'PW007', ''),
    ('select pawl.resume_workflow(''test.flow'')', 'PW007', ''),
    ('select pawl.pause_all()', 'PW007', ''),
    ('select pawl.resume_all()', 'PW007', ''),
    ('select pawl.pause_queue(''test.flow'')', 'PW007', ''),
    ('select pawl.resume_queue(''test.flow'')', 'PW007', ''),
    ('select pawl.raise_epoch(''x'')', 'PW007', ''),
    ('select pawl.alter_workflow(''test.flow'', ''{}'')', 'PW007', ''),
    ('select runs from pawl.set_retention(''1 day'')', 'PW007', ''),
    ('select value from pawl.set_notify(''off'')', 'PW007', ''),
    ('select action_no from pawl.list_actions()', 'PW007', ''),
    ('select what from pawl.doctor()', 'PW007', ''),
    ('select run_id from pawl.list_runs()', 'nothing', ''),
    ('select run_id from pawl.list_runs(only_tenant => ''b'')', 'nothing', ''),
    ('select name from pawl.list_waits(only_tenant => ''b'')', 'nothing', ''),
    ('select event_id from pawl.list_events()', 'nothing', ''),
    ('select event_id from pawl.list_events(only_tenant => ''b'')', 'nothing', '');
grant all on try to :"bound";
set session authorization :"bound";
select is(outcome(call), want, regexp_replace(call, '[0-9a-f-]{36}', case run when :'live' then 'HELD' when :'waiting' then 'WAITING' when :'ended' then 'ENDED' else 'UNKNOWN' end)) from try;
reset session authorization;
select is((select string_agg(status, ' ' order by status) from pawl.list_runs()), 'CANCELLED PAUSED RUNNING', 'nothing was changed');
select is((select count(*) from pawl_data.signal), 0::bigint, 'nothing was left behind');
drop owned by :"bound";
drop role :"bound";
select * from finish();
