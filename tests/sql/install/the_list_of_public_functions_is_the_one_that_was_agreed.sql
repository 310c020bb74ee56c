-- SPDX-License-Identifier: Apache-2.0
-- Names and arguments that callers rely on: a released signature never changes. Add to the list; once there is a
-- release, take nothing away.
select plan(2);
create temporary table agreed (f text);
create temporary view current_api as
select lower(format('%s(%s) returns %s', p.proname, pg_get_function_arguments(p.oid), coalesce(pg_get_function_result(p.oid), 'nothing'))) as f
from pg_proc p where p.pronamespace = 'pawl'::regnamespace and p.proname not like '\_%' and p.proname not like 'test\_clock%';
copy agreed from stdin;
act_as_token(digest bytea) returns table(who text, rights text[], tenant text, expires_at timestamp with time zone)
add_step(flow text, step text, deps text[] default '{}'::text[], options json default '{}'::json) returns text
alter_workflow(name text, options json) returns void
apply_flow(definition json, only_check boolean default false) returns table(change text, step text, was json, becomes json)
approve(run uuid, name text, by text default null::text, why text default null::text, payload json default '{}'::json) returns text
backfill_schedule(name text, since timestamp with time zone, until timestamp with time zone, max_rows integer default 100, tenant text default ''::text, by text default null::text) returns table(at timestamp with time zone, run_id uuid, created boolean)
begin_bulk(act text, filter json, rate double precision default 100, why text default null::text, by text default null::text, digest text default null::text, rollback boolean default false, step text default null::text) returns bigint
cancel(runs uuid[], why text default null::text, rollback boolean default false, by text default null::text) returns table(run_id uuid, answer text)
claim(session bigint, max_tasks integer default 1, request integer default null::integer, start boolean default true, quiet boolean default false) returns table(run_id uuid, task integer, fence integer, workflow text, round integer, execution integer, tenant text, triggered_at timestamp with time zone, rolling_back boolean, suspect boolean, input json, metadata json, record json, step_timeout_ms bigint, run_timeout_ms bigint, tick_due boolean)
commit(session bigint, runs uuid[], fences integer[], kinds text[], names text[] default null::text[], payloads text[] default null::text[], seqs integer[] default null::integer[], tasks integer[] default null::integer[], millis integer[] default null::integer[], options text[] default null::text[]) returns table(item integer, answer text, reason text, value json)
commit_each(session bigint, runs uuid[], fences integer[], kinds text[], names text[] default null::text[], payloads text[] default null::text[], seqs integer[] default null::integer[], tasks integer[] default null::integer[], millis integer[] default null::integer[], options text[] default null::text[]) returns table(item integer, answer text, reason text, value json)
complete(session bigint, run uuid, fence integer, output json default 'null'::json, task integer default 0) returns table(answer text, reason text, value json)
count_runs(only_workflow text default null::text, only_tenant text default null::text, since interval default '1 day'::interval) returns table(workflow text, status text, runs bigint, more boolean, counted_until timestamp with time zone)
create_flow(name text, runtime text default null::text, priority integer default 100, max_attempts integer default 5, base interval default '00:00:01'::interval, factor double precision default 2, cap interval default '00:10:00'::interval, jitter double precision default 0.2, run_timeout interval default null::interval, step_timeout interval default null::interval, description text default null::text, input_schema json default null::json) returns text
create_schedule(name text, workflow text, cron text default null::text, every interval default null::interval, at timestamp with time zone default null::timestamp with time zone, zone text default 'utc'::text, input json default '{}'::json, tenant text default ''::text, priority integer default null::integer, metadata json default null::json, limit_key text default null::text, catch_up text default 'last'::text, catch_up_within interval default '1 day'::interval, overlap text default 'skip'::text, jitter interval default '00:00:00'::interval, starts_at timestamp with time zone default null::timestamp with time zone, ends_at timestamp with time zone default null::timestamp with time zone) returns text
create_subscription(name text, topic text, workflow text, key text default null::text, match json default null::json, tenant text default ''::text, input text default 'payload'::text) returns text
create_token(name text, digest bytea, rights text[], tenant text default null::text, expires interval default null::interval, by text default null::text) returns bigint
create_workflow(name text, runtime text default null::text, priority integer default 100, max_attempts integer default 5, base interval default '00:00:01'::interval, factor double precision default 2, cap interval default '00:10:00'::interval, jitter double precision default 0.2, run_timeout interval default null::interval, step_timeout interval default null::interval, strict_order boolean default false, description text default null::text, key_limit integer default null::integer, fair boolean default false, input_schema json default null::json) returns text
delete_flow(name text) returns text
delete_schedule(name text, by text default null::text, tenant text default ''::text) returns text
delete_subscription(name text, by text default null::text, tenant text default ''::text) returns text
doctor() returns table(what text, level text, found text, cure text)
drain_worker(session bigint, by text default null::text) returns text
emit(topic text, payload json default '{}'::json, key text default ''::text, tenant text default ''::text, id uuid default null::uuid) returns table(event_id uuid, answer text, woken integer)
epoch() returns integer
errors() returns table(code text, name text, meaning text, retryable boolean)
fail(session bigint, run uuid, fence integer, error json default '{}'::json, final boolean default false, task integer default 0) returns table(answer text, reason text, value json)
find(word text, only_tenant text default null::text, max_rows integer default 20) returns table(what text, name text, run_id uuid, workflow text, tenant text, status text, at timestamp with time zone)
follow(run uuid, after bigint default 0, task integer default 0, max_rows integer default 1000) returns table(note_no bigint, at timestamp with time zone, kind text, name text, body text, fence integer, seq integer, begins boolean, status text)
fork(run uuid, from_step text default null::text, input json default null::json, by text default null::text) returns table(run_id uuid, answer text, copied integer)
get_run(run uuid) returns table(run_id uuid, workflow text, tenant text, status text, reason text, round integer, execution integer, priority integer, key text, triggered_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, due_at timestamp with time zone, worker text, ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text, input json, metadata json, output json, error json, steps json, forked_from uuid, tags text[], crashes integer)
get_workflow(name text) returns table(workflow text, runtime text, priority integer, max_attempts integer, base interval, factor double precision, cap interval, jitter double precision, run_timeout interval, step_timeout interval, strict_order boolean, description text, created_at timestamp with time zone, paused boolean, workers integer, flow boolean, key_limit integer, fair boolean, key_rate text, key_burst integer, held_limit integer, limit_name text, limit_while text, expires interval, input_schema json)
grant_role(role_name name, privilege_set text, tenant text default null::text) returns void
heartbeat(session bigint, running json default null::json, starved boolean default null::boolean) returns table(epoch integer, lease_until timestamp with time zone, run_id uuid, task integer, notice text, tick_due boolean)
held(session bigint) returns table(run_id uuid, task integer, fence integer, workflow text, execution integer, claimed_at timestamp with time zone, notice text)
history(run uuid) returns table(at timestamp with time zone, what text, round integer, who text, detail json)
housekeep() returns void
kill(runs uuid[], why text default null::text, by text default null::text) returns table(run_id uuid, answer text)
leave(session bigint) returns integer
list_actions(after bigint default 0, max_rows integer default 100) returns table(action_no bigint, at timestamp with time zone, what text, who text, detail json)
list_bulks(only_running boolean default false, cursor bigint default null::bigint, max_rows integer default 50) returns table(bulk bigint, act text, state text, handled bigint, ok bigint, waiting integer, answers json, filter json, rate double precision, started_at timestamp with time zone, started_by text, why text, ended_at timestamp with time zone, stopped_by text, reached_at timestamp with time zone, last_error text)
list_children(run uuid, cursor uuid default null::uuid, max_rows integer default 100) returns table(run_id uuid, step text, workflow text, status text, reason text, triggered_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, worker text)
list_ended(since timestamp with time zone, before timestamp with time zone default null::timestamp with time zone, only_tenant text default null::text, cursor uuid default null::uuid, max_rows integer default 1000) returns table(run_id uuid, workflow text, tenant text, status text, round integer, execution integer, triggered_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, worker text, parent_id uuid, error_code text, error_line text, traceparent text, tracestate text, steps json, next_cursor uuid)
list_events(only_topic text default null::text, only_key text default null::text, only_tenant text default null::text, since timestamp with time zone default null::timestamp with time zone, before timestamp with time zone default null::timestamp with time zone, cursor uuid default null::uuid, max_rows integer default 50) returns table(event_id uuid, emitted_at timestamp with time zone, topic text, key text, tenant text, payload json, next_cursor uuid)
list_failures(since timestamp with time zone default null::timestamp with time zone, only_workflow text default null::text, only_tenant text default null::text, cursor uuid default null::uuid, max_rows integer default 100) returns table(workflow text, fingerprint text, runs bigint, error_code text, error_line text, first_run uuid, first_at timestamp with time zone, last_run uuid, last_at timestamp with time zone, bars bigint[], next_cursor uuid)
list_pauses() returns table(subject text, name text, paused_at timestamp with time zone, paused_by text, why text, refuses_triggers boolean)
list_grants() returns table(role_name text, privilege_set text, tenant text, role_exists boolean)
list_lanes(workflow text, only_key text default null::text, only_tenant text default null::text, cursor uuid default null::uuid, max_rows integer default 100) returns table(limit_key text, tenant text, waiting bigint, held bigint, key_limit integer, key_rate text, key_burst integer, weight integer, oldest_waiting interval, paused boolean, reason text, next_start timestamp with time zone, set_at timestamp with time zone, set_by text, set_why text, next_cursor uuid)
list_queues(max_rows integer default 1000) returns table(queue text, workflow text, ready bigint, ready_shown text, held bigint, oldest_ready interval, workers integer, paused boolean)
list_runs(only_workflow text default null::text, only_status text default null::text, only_tenant text default null::text, only_key text default null::text, only_tag text default null::text, since timestamp with time zone default null::timestamp with time zone, before timestamp with time zone default null::timestamp with time zone, cursor uuid default null::uuid, max_rows integer default 50) returns table(run_id uuid, workflow text, tenant text, status text, reason text, round integer, execution integer, priority integer, key text, triggered_at timestamp with time zone, started_at timestamp with time zone, ended_at timestamp with time zone, due_at timestamp with time zone, worker text, ending boolean, rolling_back boolean, parent_id uuid, error_code text, error_line text, wait_kind text, wait_name text, next_cursor uuid)
list_schedules(only_schedule text default null::text, only_tenant text default null::text, only_workflow text default null::text, cursor bigint default null::bigint, max_rows integer default 100) returns table(schedule text, tenant text, workflow text, cron text, every interval, at timestamp with time zone, zone text, next_at timestamp with time zone, paused boolean, last_at timestamp with time zone, last_run uuid, fired bigint, skipped bigint, missed bigint, catch_up text, catch_up_within interval, overlap text, jitter interval, starts_at timestamp with time zone, ends_at timestamp with time zone, input json, priority integer, metadata json, limit_key text, waiting_at timestamp with time zone, last_error text, created_at timestamp with time zone, next_cursor bigint)
list_skips(name text, tenant text default ''::text, before timestamp with time zone default null::timestamp with time zone, max_rows integer default 100) returns table(first_at timestamp with time zone, last_at timestamp with time zone, times bigint, reason text, run_id uuid, noted_at timestamp with time zone)
list_states(runs uuid[]) returns table(run_id uuid, status text, reason text, round integer, execution integer, steps bigint, mark text)
list_steps(flow text) returns table(step text, deps text[], handler text, child text, options json, leaf boolean, frozen boolean)
list_subscriptions(only_subscription text default null::text, only_tenant text default null::text, only_topic text default null::text, only_workflow text default null::text, cursor bigint default null::bigint, max_rows integer default 100) returns table(subscription text, tenant text, topic text, key text, match json, workflow text, input text, paused boolean, paused_at timestamp with time zone, paused_by text, paused_why text, deferred bigint, last_error text, failed_at timestamp with time zone, created_at timestamp with time zone, next_cursor bigint)
list_waits(only_run uuid default null::uuid, only_approvals boolean default false, only_tenant text default null::text, cursor uuid default null::uuid, max_rows integer default 100) returns table(run_id uuid, name text, kind text, topic text, key text, match json, form json, child uuid, since timestamp with time zone, until timestamp with time zone)
list_workers(ended boolean default false, max_rows integer default 1000) returns table(session bigint, worker text, state text, handles text[], runtimes text[], held bigint, lease_until timestamp with time zone, registered_at timestamp with time zone, ended_at timestamp with time zone, ended_why text, running json, notice text, client text, version text)
list_workflows(only_workflow text default null::text, cursor text default null::text, max_rows integer default 100, only_flows boolean default false) returns table(workflow text, runtime text, priority integer, max_attempts integer, base interval, factor double precision, cap interval, jitter double precision, run_timeout interval, step_timeout interval, strict_order boolean, description text, created_at timestamp with time zone, paused boolean, workers integer, flow boolean, key_limit integer, fair boolean, key_rate text, key_burst integer, held_limit integer, limit_name text, limit_while text, expires interval)
make_id() returns uuid
metrics(only_workflow text default null::text, since interval default '01:00:00'::interval) returns table(workflow text, succeeded bigint, failed bigint, cancelled bigint, per_second double precision, mean_seconds double precision, max_seconds double precision, mean_wait_seconds double precision, oldest_ready interval, counted_until timestamp with time zone, success_share double precision, p50_seconds double precision, p95_seconds double precision, p99_seconds double precision)
notes(run uuid, after bigint default 0, max_rows integer default 1000) returns table(note_no bigint, at timestamp with time zone, kind text, name text, body text)
now() returns timestamp with time zone
pass_on(session bigint) returns integer
pause(runs uuid[], why text default null::text, by text default null::text) returns table(run_id uuid, answer text)
pause_all(why text default null::text, by text default null::text, refuse_triggers boolean default false) returns text
pause_lane(workflow text, limit_key text, why text default null::text, by text default null::text, tenant text default ''::text) returns text
pause_queue(name text, why text default null::text, by text default null::text) returns text
pause_schedule(name text, why text default null::text, by text default null::text, tenant text default ''::text) returns text
pause_subscription(name text, why text default null::text, by text default null::text, tenant text default ''::text) returns text
pause_workflow(name text, why text default null::text, by text default null::text) returns text
preview_bulk(act text, filter json) returns table(runs bigint, runs_shown text, first_runs json, full_filter json, digest text)
preview_schedule(cron text default null::text, zone text default 'utc'::text, name text default null::text, since timestamp with time zone default null::timestamp with time zone, max_rows integer default 10, tenant text default ''::text) returns table(at timestamp with time zone, local timestamp without time zone, zone_offset interval, note text)
prometheus() returns text
purge(runs uuid[], why text default null::text, by text default null::text) returns table(run_id uuid, answer text)
raise_epoch(why text, by text default null::text) returns integer
record_step(token text, output json default 'null'::json) returns text
register(name text, handles text[], runtimes text[] default '{}'::text[], lease interval default '00:00:30'::interval, protocol integer default 1, client text default ''::text, version text default null::text) returns table(session bigint, epoch integer, heartbeat_every interval, queues integer)
reject(run uuid, name text, by text default null::text, why text default null::text, payload json default '{}'::json) returns text
release(session bigint, run uuid, fence integer, task integer default 0) returns table(answer text, reason text, value json)
rest(session bigint, renew boolean default false, may_listen boolean default true) returns table(listen boolean, ready boolean, tick_due boolean, draining boolean)
result(run uuid) returns table(status text, output json, error json)
results(runs uuid[]) returns table(run_id uuid, status text, output json, error json)
resume(runs uuid[], by text default null::text) returns table(run_id uuid, answer text)
resume_all(by text default null::text) returns text
resume_lane(workflow text, limit_key text, by text default null::text, tenant text default ''::text) returns text
resume_queue(name text, by text default null::text) returns text
resume_schedule(name text, by text default null::text, catch_up text default null::text, tenant text default ''::text) returns text
resume_subscription(name text, by text default null::text, tenant text default ''::text) returns text
resume_workflow(name text, by text default null::text) returns text
retry(runs uuid[], by text default null::text) returns table(run_id uuid, answer text)
list_tokens(cursor bigint default null::bigint, max_rows integer default 100) returns table(token_id bigint, name text, rights text[], tenant text, created_at timestamp with time zone, created_by text, expires_at timestamp with time zone, revoked_at timestamp with time zone)
revoke_role(role_name name, privilege_set text) returns void
revoke_token(name text, by text default null::text, tenant text default null::text) returns text
rollback_retry(runs uuid[], by text default null::text) returns table(run_id uuid, answer text)
rollback_skip(run uuid, step text, why text default null::text, by text default null::text) returns text
set_lane(workflow text, limit_key text, key_limit integer default null::integer, weight integer default null::integer, why text default null::text, by text default null::text, tenant text default ''::text, key_rate text default null::text, key_burst integer default null::integer) returns text
set_notify(notify text default null::text, role_name name default null::name, by text default null::text) returns table(role text, value text)
set_retention(run_retention interval default null::interval, event_retention interval default null::interval, by text default null::text) returns table(runs interval, events interval)
set_session_limit(sessions integer default null::integer, by text default null::text) returns integer
signal(run uuid, name text, payload json default '{}'::json) returns text
sleep(session bigint, run uuid, fence integer, name text, duration interval, task integer default 0) returns table(answer text, reason text, value json)
slot_of(run uuid) returns integer
step(session bigint, run uuid, fence integer, name text, output json default 'null'::json, task integer default 0) returns table(answer text, reason text, value json)
step_token(session bigint, run uuid, fence integer, step text, seq integer default null::integer, task integer default 0) returns text
stop_bulk(bulk bigint, by text default null::text) returns text
tick(in force boolean default false) returns nothing
trigger(workflow text, input json default '{}'::json, key text default null::text, tenant text default ''::text, priority integer default null::integer, delay interval default null::interval, metadata json default null::json, id uuid default null::uuid, key_ttl interval default null::interval, key_while_active boolean default false, limit_key text default null::text, id_is_new boolean default false, tags text[] default null::text[], expires interval default null::interval, replace boolean default false, debounce interval default null::interval, debounce_max interval default null::interval) returns table(run_id uuid, created boolean, handled boolean)
trigger_many(workflow text, inputs json[], keys text[] default null::text[], tenant text default ''::text, priority integer default null::integer, delay interval default null::interval, metadata json default null::json, ids uuid[] default null::uuid[], key_ttl interval default null::interval, key_while_active boolean default false, limit_keys text[] default null::text[], ids_are_new boolean default false, tags text[] default null::text[], expires interval default null::interval) returns table(item integer, run_id uuid, created boolean, handled boolean)
wait_event(session bigint, run uuid, fence integer, name text, topic text, key text default ''::text, match json default null::json, timeout interval default null::interval, task integer default 0) returns table(answer text, reason text, value json)
wait_signal(session bigint, run uuid, fence integer, name text, timeout interval default null::interval, task integer default 0) returns table(answer text, reason text, value json)
wake(runs uuid[], step text default null::text, why text default null::text, by text default null::text) returns table(run_id uuid, answer text, reason text)
why(run uuid) returns text
why_schedule(name text, tenant text default ''::text) returns text
\.
select is((select string_agg(f, e'\n') from (select f from agreed except select f from current_api) x), null, 'nothing is missing or changed');
select is((select string_agg(f, e'\n') from (select f from current_api except select f from agreed) x), null, 'nothing is there that is not in the list');
select * from finish();
