-- SPDX-License-Identifier: Apache-2.0
-- One item at a time, for psql and simple clients. Each is a commit of one or two items.

-- A bare name gets its #1.
create or replace function pawl._full_name(p_name text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case when p_name ~ '#[0-9]+$' then p_name else p_name || '#1' end;
end
$$;
comment on function pawl._full_name(text) is 'a step name with its number';

create or replace function pawl._one(
    p_session bigint, p_run uuid, p_task int, p_fence int, p_kind text, p_name text, p_payload text, p_option json)
returns table (answer text, reason text, value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    return query
    select c.answer, c.reason, c.value
    from pawl.commit_each(p_session, array[p_run], array[p_fence], array[p_kind], array[pawl._full_name(p_name)],
                               array[p_payload], null, array[p_task], null, array[p_option::text]) c;
end
$$;
comment on function pawl._one(bigint, uuid, int, int, text, text, text, json) is 'commits one item';

-- Commits a wait and, if the wait stays open, suspends the run.
create or replace function pawl._one_wait(p_session bigint, p_run uuid, p_task int, p_fence int, p_kind text, p_name text, p_option json)
returns table (answer text, reason text, value json)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    select o.answer, o.reason, o.value into answer, reason, value
    from pawl._one(p_session, p_run, p_task, p_fence, p_kind, p_name, null, p_option) o;
    -- The output may contain characters that a text cannot hold.
    -- guard:wait_state_readable
    if pawl._readable(value::text)::json ->> 'state' = 'PAUSED' then
        select o.answer, o.reason into answer, reason from pawl._one(p_session, p_run, p_task, p_fence, 'suspend', null, null, null) o;
    end if;
    return next;
end
$$;
comment on function pawl._one_wait(bigint, uuid, int, int, text, text, json) is 'commits a wait and suspends the run';

create or replace function pawl.step(session bigint, run uuid, fence int, name text, output json default 'null', task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return query select o.* from pawl._one(session, run, task, fence, 'step', name, output::text, null) o;
end
$$;
comment on function pawl.step(bigint, uuid, int, text, json, int) is
'Records the result of one step. A bare name stands for its first occurrence, NAME#1. Answers as commit.
If repeated: answers already, with the recorded value.
Locks: the row of the run, unless another transaction has it.
Errors: as commit_each.
Limits: the cost is constant.';

create or replace function pawl.complete(session bigint, run uuid, fence int, output json default 'null', task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return query select o.* from pawl._one(session, run, task, fence, 'complete', null, output::text, null) o;
end
$$;
comment on function pawl.complete(bigint, uuid, int, json, int) is
'Ends a run with SUCCESS and its output. Answers as commit.
If repeated: answers already.
Locks: the row of the run, unless another transaction has it; then its parent.
Errors: as commit_each.
Limits: the cost is constant.';

create or replace function pawl.fail(session bigint, run uuid, fence int, error json default '{}', final boolean default false, task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return query select o.* from pawl._one(session, run, task, fence, 'fail', null, error::text, json_build_object('final', final)) o;
end
$$;
comment on function pawl.fail(bigint, uuid, int, json, boolean, int) is
'Reports that the handler failed. The workflow''s retry policy decides whether the run is tried again; with final it ends ERROR now. Answers as commit; value says whether it was final and when the next try is.
If repeated: answers already.
Locks: as complete.
Errors: as commit_each.
Limits: the cost is constant.';

create or replace function pawl.sleep(session bigint, run uuid, fence int, name text, duration interval, task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_finite(duration, 'duration');
    return query
    select o.* from pawl._one_wait(session, run, task, fence, 'sleep', name,
        json_build_object('ms', (1000 * date_part('epoch', duration))::bigint)) o;
end
$$;
comment on function pawl.sleep(bigint, uuid, int, text, interval, int) is
'Lets the run sleep and gives it back: a later claim finds the sleep recorded. Answers already with its record when the sleep is over.
If repeated: answers already while it sleeps, or lease_lost after another claim.
Locks: as complete.
Errors: as commit_each.
Limits: the cost is constant.';

create or replace function pawl.wait_event(
    session bigint, run uuid, fence int, name text, topic text, key text default '', match json default null,
    timeout interval default null, task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_finite(timeout, 'timeout');
    return query
    select o.* from pawl._one_wait(session, run, task, fence, 'event', name, json_build_object('topic', topic, 'key', key,
        'match', match, 'timeout_ms', (1000 * date_part('epoch', timeout))::bigint)) o;
end
$$;
comment on function pawl.wait_event(bigint, uuid, int, text, text, text, json, interval, int) is
'Takes the earliest event on this topic and key that matches, looking back to the trigger of the run; if there is none yet, gives the run back until one comes or the timeout is over. match is an object of at most four JSON pointers and scalars, such as {"/id": 7}. value has the state, and the event''s payload as output.
If repeated: answers already.
Locks: the row of the run, then the topic and key, unless another transaction has them.
Errors: as commit_each.
Limits: the events of that topic and key since the trigger.';

create or replace function pawl.wait_signal(session bigint, run uuid, fence int, name text, timeout interval default null, task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_finite(timeout, 'timeout');
    return query
    select o.* from pawl._one_wait(session, run, task, fence, 'signal', name,
        json_build_object('timeout_ms', (1000 * date_part('epoch', timeout))::bigint)) o;
end
$$;
comment on function pawl.wait_signal(bigint, uuid, int, text, interval, int) is
'Takes the oldest signal of this name that was sent to the run; if there is none, gives the run back until one comes or the timeout is over.
If repeated: answers already.
Locks: as complete.
Errors: as commit_each.
Limits: the cost is constant.';

create or replace function pawl.release(session bigint, run uuid, fence int, task int default 0)
returns table (answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return query select o.* from pawl._one(session, run, task, fence, 'release', null, null, null) o;
end
$$;
comment on function pawl.release(bigint, uuid, int, int) is
'Gives a claimed run back as if it had never been claimed.
If repeated: answers already.
Locks: as complete.
Errors: as commit_each.
Limits: the cost is constant.';
