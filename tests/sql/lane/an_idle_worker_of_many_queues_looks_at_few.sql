-- SPDX-License-Identifier: Apache-2.0
-- Of a thousand queues with lanes, rest and pass_on look at those that may have a task.
select plan(13);
select t.stop_clock() \g /dev/null
select count(pawl.create_workflow('lane.' || i)) from generate_series(1, 1000) i \gset
insert into pawl_data.lane_queue (queue_id, key_limit) select queue_id, 1 from pawl_data.workflow;
update pawl_data.workflow set laned = true, key_limit = 1;
select t.session() as s \gset
select t.session() as o \gset
select t.session(array['lane.500']) as one \gset
select count(*) from pawl.claim(:s, 1) \gset
select pawl.rest(:o), pawl.rest(:one) \g /dev/null
set track_functions = 'all';
-- What a statement answers, and how many queues it looked at.
create function pg_temp.looks(statement text) returns text language plpgsql as $$
declare
    v_before bigint := coalesce(pg_stat_get_xact_function_calls('pawl._lanes_open(int, text)'::regprocedure), 0);
    v_answer text;
begin
    execute statement into v_answer;
    return v_answer || ' ' || coalesce(pg_stat_get_xact_function_calls('pawl._lanes_open(int, text)'::regprocedure), 0) - v_before;
end $$;
select is(pg_temp.looks(format('select ready::text from pawl.rest(%s)', :s)), 'false 0', 'nothing waits');
select is(pg_temp.looks(format('select pawl.pass_on(%s)::text', :s)), '0 0', 'nothing is passed on');
select run_id as r from pawl.trigger('lane.400', limit_key => 'a') \gset
select is(pg_temp.looks(format('select ready::text from pawl.rest(%s)', :s)), 'true 1', 'one waits');
select is(pg_temp.looks(format('select ready::text from pawl.rest(%s)', :one)), 'false 0', 'in a queue that another worker does not handle');
select matches(pg_temp.looks(format('select pawl.pass_on(%s)::text', :s)), '^1 [12]$', 'it is passed on');
select count(*) from generate_series(401, 600) i, lateral pawl.trigger('lane.' || i, limit_key => 'a') \gset
select is(pg_temp.looks(format('select ready::text from pawl.rest(%s)', :one)), 'true 1', 'a worker of one queue finds its own among two hundred');
-- A bound worker among runs of others.
update pawl_data.worker set tenant = 'a' where session_id in (:s, :one);
update pawl_data.setting set tenants_bound = true;
select is(pg_temp.looks(format('select ready::text from pawl.rest(%s)', :one)), 'false 1', 'a run of another tenant is not for it');
select is(pg_temp.looks(format('select ready::text from pawl.rest(%s)', :s)), 'true 100', 'after a hundred queues it claims to be sure');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'and gets nothing');
select run_id as r from pawl.trigger('lane.900', limit_key => 'a', tenant => 'a') \gset
select is((select c.run_id from generate_series(1, 100) i, lateral pawl.claim(:s, least(i, 10)) c), :'r'::uuid, 'but, within some claims, what is its own');
update pawl_data.worker set tenant = null;
select is((select pawl._any_open('{}', null)), false, 'of no queues none');
select is((select pawl._next_open(2147483647, null)), null, 'none is behind the last');
select is(t.lane_faults(), 'none', 'lanes fit');
select * from finish();
