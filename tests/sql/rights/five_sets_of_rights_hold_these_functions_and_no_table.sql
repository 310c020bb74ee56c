-- SPDX-License-Identifier: Apache-2.0
-- The matrix is written out here, so that a change of the engine's own list is seen.
select * from no_plan();
create temporary table allowed (rights text, name text);
insert into allowed select r, unnest(array['now', 'errors', 'make_id', 'slot_of', 'epoch']) from unnest(array['producer', 'worker', 'operator', 'reader']) r;
insert into allowed select 'producer', unnest(array['trigger', 'trigger_many', 'emit', 'signal', 'get_run', 'result', 'results', 'cancel', 'why']);
insert into allowed select 'worker', unnest(array['register', 'heartbeat', 'rest', 'pass_on', 'leave', 'claim', 'held', 'commit', 'commit_each', 'step', 'complete', 'fail', 'sleep',
    'wait_event', 'wait_signal', 'release', 'step_token', 'record_step', 'get_run', 'result', 'results', 'tick', '_tick_begins', '_tick_piece']);
insert into allowed select 'operator', unnest(array['create_workflow', 'alter_workflow', 'create_flow', 'add_step', 'apply_flow', 'delete_flow', 'cancel', 'kill', 'pause', 'resume', 'wake', 'retry', 'rollback_retry', 'rollback_skip', 'fork', 'purge',
    'pause_workflow', 'resume_workflow', 'pause_all', 'resume_all', 'preview_bulk', 'begin_bulk', 'stop_bulk', 'pause_queue', 'resume_queue', 'drain_worker', 'raise_epoch', 'set_retention', 'set_session_limit', 'set_notify', 'set_lane', 'pause_lane', 'resume_lane', 'create_schedule', 'pause_schedule', 'resume_schedule', 'delete_schedule', 'backfill_schedule',
    'create_subscription', 'pause_subscription', 'resume_subscription', 'delete_subscription', 'list_subscriptions', 'create_token', 'revoke_token', 'list_tokens', 'housekeep', 'tick', '_tick_begins', '_tick_piece', 'signal', 'emit', 'approve', 'reject', 'get_run', 'result', 'results',
    'list_runs', 'history', 'notes', 'follow', 'list_waits', 'list_queues', 'list_lanes', 'list_pauses', 'list_bulks', 'list_workers', 'list_workflows', 'get_workflow', 'list_steps', 'list_children', 'list_failures', 'count_runs', 'find', 'list_states', 'list_ended', 'list_events', 'list_schedules', 'list_skips', 'preview_schedule', 'why_schedule', 'metrics', 'prometheus', 'list_actions', 'list_grants', 'why', 'doctor']);
insert into allowed select 'reader', unnest(array['get_run', 'result', 'results', 'list_runs', 'history', 'notes', 'follow', 'list_waits', 'list_queues', 'list_lanes', 'list_pauses', 'list_bulks', 'list_workers', 'list_workflows', 'get_workflow', 'list_steps', 'list_children', 'list_failures', 'count_runs', 'find', 'list_states', 'list_ended', 'list_events', 'list_schedules', 'list_skips', 'preview_schedule', 'why_schedule', 'metrics', 'prometheus', 'list_actions', 'list_grants', 'why', 'doctor']);
insert into allowed select distinct 'gateway', name from allowed where rights in ('producer', 'operator', 'reader');
insert into allowed values ('gateway', 'act_as_token');
create temporary table actor as select r as rights, r || '_' || current_database() as role from unnest(array['producer', 'worker', 'operator', 'reader', 'gateway', 'nobody']) r;
do $$ declare v record; begin
    for v in select * from actor loop
        execute format('create role %I login', v.role);
        if v.rights <> 'nobody' then perform pawl.grant_role(v.role, v.rights); end if;
    end loop;
end $$;
select is((select string_agg(format('%s: %s', a.rights, p.oid::regprocedure), ', ') from actor a, pg_proc p
    where p.pronamespace = 'pawl'::regnamespace
      and has_function_privilege(a.role, p.oid, 'execute') <> exists (select from allowed l where l.rights = a.rights and l.name = p.proname)), null, 'each role may execute the functions of its set and no other');
select is((select string_agg(name, ', ') from allowed l where not exists (select from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.proname = l.name)), null, 'every function of a set is there');
select is((select string_agg(format('%s %s %s', a.rights, r, c.oid::regclass), ', ') from actor a, pg_class c, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) r
    where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and has_table_privilege(a.role, c.oid, r)), null, 'no role has a right on a table');
select is((select string_agg(format('%s %s %s', a.rights, r, c.oid::regclass), ', ') from actor a, pg_class c, unnest(array['usage', 'select', 'update']) r
    where c.relnamespace = 'pawl_data'::regnamespace and c.relkind = 'S' and has_sequence_privilege(a.role, c.oid, r)), null, 'nor on a sequence');
select is((select string_agg(format('%s %s', a.rights, c.oid::regclass), ', ') from actor a, pg_class c, pg_attribute t
    where c.relnamespace = 'pawl_data'::regnamespace and t.attrelid = c.oid and t.attacl is not null), null, 'nor on a column');
select is((select string_agg(rights, ' ' order by rights) from actor where has_schema_privilege(role, 'pawl', 'usage')), 'gateway operator producer reader worker', 'granted roles may use the schema');
select is((select string_agg(rights, ' ') from actor where has_schema_privilege(role, 'pawl', 'create')), null, 'and create nothing in it');
select is((select string_agg(rights, ' ') from actor where has_schema_privilege(role, 'pawl_data', 'usage') or has_schema_privilege(role, 'pawl_data', 'create')), null, 'nor use the schema of tables');
select is((select string_agg(rights, ' ') from actor, pg_roles r where r.rolname = actor.role and (rolsuper or rolcreaterole or rolcreatedb or rolbypassrls)), null, 'no right was given besides');
do $$ declare v record; begin for v in select * from actor loop execute format('drop owned by %I', v.role); execute format('drop role %I', v.role); end loop; end $$;
select * from finish();
