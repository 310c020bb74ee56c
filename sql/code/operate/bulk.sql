-- SPDX-License-Identifier: Apache-2.0
-- Many runs at once: an action on all runs that a filter finds, in the background. Housekeeping continues it (doors.sql).

-- The states of runs that an action applies to.
create or replace function pawl._states_for(p_act text)
returns text[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return case p_act
        when 'retry' then array['ERROR', 'CANCELLED']
        when 'purge' then array['SUCCESS', 'ERROR', 'CANCELLED']
        when 'resume' then array['PAUSED']
        when 'wake' then array['PAUSED']
        when 'cancel' then array['QUEUED', 'RUNNING', 'PAUSED']
        when 'kill' then array['QUEUED', 'RUNNING', 'PAUSED']
        when 'pause' then array['QUEUED', 'RUNNING', 'PAUSED'] end;
end
$$;
comment on function pawl._states_for(text) is 'the states of runs that an action applies to';

-- Checks action and filter. Returns the filter with the tenant of the caller and with before, which is now if it was not given: so no run that is
-- triggered later is found, and none has its turn twice.
create or replace function pawl._bulk_filter(p_verb text, p_act text, p_filter json, p_now timestamptz)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_filter jsonb := coalesce(p_filter, '{}')::jsonb;
    v_bound text := pawl._bound_tenant(p_verb);
    v_name text;
begin
    if pawl._states_for(p_act) is null then
        -- guard:bulk_act
        perform pawl._raise('PW003', format('a bulk cannot %s runs', coalesce(quote_literal(left(p_act, 50)), 'null')), 'Actions are retry, cancel, kill, pause, resume, wake and purge.');
    end if;
    if jsonb_typeof(v_filter) <> 'object' or octet_length(v_filter::text) > 4000 then
        -- guard:bulk_filter
        perform pawl._raise('PW003', 'filter must be an object of at most 4000 bytes', 'Its members are workflow, status, tenant, key, since and before.');
    end if;
    for v_name in select k from jsonb_object_keys(v_filter) k loop
        if v_name not in ('workflow', 'status', 'tenant', 'key', 'since', 'before') or jsonb_typeof(v_filter -> v_name) <> 'string' then
            -- guard:bulk_member
            perform pawl._raise('PW003', format('filter: %s is not a text that a bulk filters by', quote_literal(left(v_name, 50))),
                'Its members are workflow, status, tenant, key, since and before.');
        end if;
    end loop;
    if (v_filter ->> 'status') <> all (pawl._states_for(p_act)) then
        -- guard:bulk_status
        perform pawl._raise('PW003', format('a run that is %s cannot be the object of %s', left(v_filter ->> 'status', 50), p_act),
            format('It can be %s.', array_to_string(pawl._states_for(p_act), ' or ')));
    end if;
    if v_bound is not null and (v_filter ->> 'tenant') <> v_bound then
        -- guard:bulk_tenant
        perform pawl._raise('PW001', format('tenant "%s" not found', left(v_filter ->> 'tenant', 100)));
    end if;
    if v_bound is not null then
        -- guard:bulk_bound
        v_filter := v_filter || jsonb_build_object('tenant', v_bound);
    end if;
    if v_filter ? 'since' then
        v_filter := v_filter || jsonb_build_object('since', pawl._bulk_time(v_filter ->> 'since'));
    end if;
    -- guard:bulk_before
    v_filter := v_filter || jsonb_build_object('before', least(p_now, coalesce(pawl._bulk_time(v_filter ->> 'before'), p_now)));
    return v_filter::json;
end
$$;
comment on function pawl._bulk_filter(text, text, json, timestamptz) is 'checks the filter of a bulk, and completes it';

create or replace function pawl._bulk_time(p_text text)
returns timestamptz
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set timezone to 'UTC'
as $$
begin
    if isfinite(p_text::timestamptz) is false then
        perform pawl._raise('PW003', 'since and before must be finite');
    end if;
    return p_text::timestamptz;
exception
    when invalid_datetime_format or datetime_field_overflow or invalid_parameter_value then
        perform pawl._raise('PW003', format('%s is not a time', quote_literal(left(p_text, 50))), 'Write it as 2027-02-03T04:05:06Z.');
        return null;
end
$$;
comment on function pawl._bulk_time(text) is 'a time in the filter of a bulk';

-- The digest of an action and a completed filter.
create or replace function pawl._bulk_digest(p_act text, p_filter json)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return encode(sha256(convert_to(p_act || ' ' || p_filter::jsonb::text, 'UTF8')), 'hex');
end
$$;
comment on function pawl._bulk_digest(text, json) is 'what begin_bulk compares with preview_bulk';

-- A page of runs that pass the filter, newest first, from a position on. applies: the action applies to the run. The row without a run, if there
-- is one, is the last one, and says where to continue.
create or replace function pawl._bulk_page(p_act text, p_filter json, p_position uuid, p_max int)
returns table (run_id uuid, applies boolean, place uuid, status text, workflow text)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set timezone to 'UTC'
as $$
begin
    return query
    select l.run_id, l.status = any (pawl._states_for(p_act)), l.next_cursor, l.status, l.workflow
    from pawl._list_runs(
        p_filter ->> 'tenant', p_filter ->> 'workflow', p_filter ->> 'status', p_filter ->> 'key', null,
        (p_filter ->> 'since')::timestamptz, (p_filter ->> 'before')::timestamptz, p_position, p_max) l;
end
$$;
comment on function pawl._bulk_page(text, json, uuid, int) is 'a page of the runs of a bulk';

-- Without the checks of the verbs: the caller of begin_bulk() passed them, and the session that ticks may have fewer rights.
create or replace function pawl._bulk_act(p_bulk pawl_data.bulk, p_ids uuid[])
returns table (run_id uuid, answer text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_by text := left(format('%s (bulk %s)', p_bulk.started_by, p_bulk.bulk_no), 200);
begin
    case p_bulk.act
        when 'retry' then return query select a.run_id, a.answer from pawl._retry_runs(p_ids, v_by) a;
        when 'cancel' then return query select a.run_id, a.answer from pawl._cancel_runs(p_ids, p_bulk.why, p_bulk.rollback, v_by) a;
        when 'kill' then return query select a.run_id, a.answer from pawl._kill_runs(p_ids, p_bulk.why, v_by) a;
        when 'pause' then return query select a.run_id, a.answer from pawl._pause_runs(p_ids, p_bulk.why, v_by) a;
        when 'resume' then return query select a.run_id, a.answer from pawl._resume_runs(p_ids, v_by) a;
        when 'wake' then return query select a.run_id, a.answer from pawl._wake_runs(p_ids, p_bulk.step, p_bulk.why, v_by) a;
        when 'purge' then return query select a.run_id, a.answer from pawl._purge_runs(p_ids, p_bulk.why, v_by) a;
    end case;
end
$$;
comment on function pawl._bulk_act(pawl_data.bulk, uuid[]) is 'does the action of a bulk to runs';

-- The same, one run at a time if the runs together fail. answer is then "failed" for a run that fails alone.
create or replace function pawl._bulk_act_each(p_bulk pawl_data.bulk, p_ids uuid[])
returns table (run_id uuid, answer text, error text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
-- 1. A run takes a key again that another transaction is just taking. 2. That transaction stays open. Without the limit, housekeeping would wait
-- for it.
set lock_timeout to '200ms'
as $$
#variable_conflict use_column
declare
    -- 1. An operator, or a producer, holds the row of a run. 2. cancel() would wait for it, and housekeeping with cancel(). So such a run is left
    -- for later.
    v_held uuid[] := array(
        select t.run_id from pawl_data.task t where t.run_id = any (p_ids) and t.task_no = 0
        except
        select l.run_id from (
            select t.run_id from pawl_data.task t where t.run_id = any (p_ids) and t.task_no = 0 order by t.run_id for update skip locked) l);
    v_ids uuid[] := array(select i from unnest(p_ids) i where i <> all (v_held));
begin
    return query select h, 'busy'::text, null::text from unnest(v_held) h;
    begin
        return query select a.run_id, a.answer, null::text from pawl._bulk_act(p_bulk, v_ids) a;
        return;
    exception
        when others then
            null;
    end;
    foreach run_id in array v_ids loop
        -- guard:bulk_fails_alone
        begin
            select a.answer, null into answer, error from pawl._bulk_act(p_bulk, array[run_id]) a;
        exception
            when lock_not_available then
                answer := 'busy';
                error := null;
            when others then
                answer := 'failed';
                error := format('run %s: %s %s', run_id, sqlstate, sqlerrm);
        end;
        return next;
    end loop;
end
$$;
comment on function pawl._bulk_act_each(pawl_data.bulk, uuid[]) is 'does the action of a bulk to runs, of which some may fail';

-- The next piece of a bulk, whose row is locked.
create or replace function pawl._continue_bulk(p_bulk pawl_data.bulk, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- A fifth of a second of its rate; the pieces of a tick are a tenth apart.
    v_max int := least(200, greatest(1, ceil(p_bulk.rate / 5)))::int;
    v_ids uuid[] := array[]::uuid[];
    v_run record;
    v_rows int := 0;
    v_done int := 0;
    -- More runs are to be looked at; or more of those that were held.
    v_more boolean := false;
    v_last boolean := p_bulk.again <> '{}' and p_bulk.turns > 0;
    v_answer record;
    -- Real time, not pawl.now(): a test clock may stand still.
    v_until timestamptz := clock_timestamp() + interval '100 ms';
begin
    if v_last then
        v_ids := p_bulk.again[1:v_max];
        p_bulk.again := p_bulk.again[v_max + 1:];
        v_more := p_bulk.again <> '{}';
    else
        for v_run in select g.* from pawl._bulk_page(p_bulk.act, p_bulk.filter, p_bulk.position, 200) g loop
            v_more := cardinality(v_ids) >= v_max;
            exit when v_more;
            v_rows := v_rows + 1;
            p_bulk.position := v_run.place;
            if v_run.run_id is null then
                v_more := true;
            elsif v_run.applies then
                v_ids := v_ids || v_run.run_id;
            end if;
        end loop;
        v_more := v_more or v_rows = 200;
    end if;
    -- 1. The server is slow, and 200 runs take seconds. 2. Timers and lost sessions are due. Without the bound in time, this session would not
    -- get to them, and the runs would be locked for so long.
    while v_done < cardinality(v_ids) and (v_done = 0 or clock_timestamp() < v_until) loop
        for v_answer in select a.* from pawl._bulk_act_each(p_bulk, v_ids[v_done + 1:v_done + 20]) a loop
            if v_answer.answer = 'busy' and p_bulk.turns < 60 and cardinality(p_bulk.again) < 10000 then
                p_bulk.again := p_bulk.again || v_answer.run_id;
            else
                p_bulk.answers := p_bulk.answers
                    || jsonb_build_object(v_answer.answer, coalesce((p_bulk.answers ->> v_answer.answer)::bigint, 0) + 1);
            end if;
            p_bulk.last_error := coalesce(left(v_answer.error, 1000), p_bulk.last_error);
        end loop;
        v_done := v_done + 20;
    end loop;
    if v_done < cardinality(v_ids) then
        v_more := true;
        if v_last then
            p_bulk.again := v_ids[v_done + 1:] || p_bulk.again;
        else
            p_bulk.position := v_ids[v_done];
        end if;
        v_ids := v_ids[1:v_done];
    end if;
    update pawl_data.bulk b
    set position = p_bulk.position, again = p_bulk.again, answers = p_bulk.answers, last_error = p_bulk.last_error,
        turns = case when v_more then p_bulk.turns else p_bulk.turns + 1 end,
        -- guard:bulk_rate
        due_at = greatest(p_bulk.due_at, p_now - interval '1 s') + cardinality(v_ids) / p_bulk.rate * interval '1 second'
                 + case when not v_more then interval '1 s' else interval '0' end,
        ended_at = case when not v_more and p_bulk.again = '{}' then p_now end
    where b.bulk_no = p_bulk.bulk_no;
end
$$;
comment on function pawl._continue_bulk(pawl_data.bulk, timestamptz) is 'the next piece of a bulk';

create or replace function pawl.preview_bulk(act text, filter json)
returns table (runs bigint, runs_shown text, first_runs json, full_filter json, digest text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_filter json := pawl._bulk_filter('preview_bulk', preview_bulk.act, preview_bulk.filter, pawl.now());
    v_place uuid;
    v_page record;
    v_more boolean := true;
    v_pages int := 0;
    v_first jsonb := jsonb '[]';
begin
    runs := 0;
    while v_more and runs <= 10000 and v_pages < 20 loop
        v_more := false;
        v_pages := v_pages + 1;
        for v_page in select g.*, row_number() over () as n from pawl._bulk_page(preview_bulk.act, v_filter, v_place, 1000) g loop
            v_place := v_page.place;
            v_more := v_page.n = 1000 or v_page.run_id is null;
            if v_page.applies then
                runs := runs + 1;
                if runs <= 5 then
                    v_first := v_first || jsonb_build_object('run_id', v_page.run_id, 'status', v_page.status, 'workflow', v_page.workflow);
                end if;
            end if;
        end loop;
    end loop;
    runs_shown := case when runs > 10000 then '10k+' when v_more then runs || '+' else runs::text end;
    first_runs := v_first::json;
    full_filter := v_filter;
    digest := pawl._bulk_digest(preview_bulk.act, v_filter);
    return next;
end
$$;
comment on function pawl.preview_bulk(text, json) is
'Counts the runs that begin_bulk() with this action and filter would act on. act: retry, cancel, kill, pause, resume, wake or purge. filter: an object with any of workflow (a name or a prefix pattern), status, tenant, key, since and before (times of the trigger); only runs in a state that the action applies to count. runs is counted up to about 10,000; runs_shown ends with a plus sign if there are more, or if the search reached its limit. first_runs has the newest five, as [{"run_id", "status", "workflow"}]. full_filter is the filter with before, which is now if it was not given. Pass it and digest to begin_bulk(), which then refuses anything else.
If repeated: returns the same with the same before, or what has happened since.
Locks: none.
Errors: PW001 another tenant than the caller''s, PW003 the action or the filter is invalid.
Limits: 20 pages of list_runs().';

create or replace function pawl.begin_bulk(
    act text, filter json, rate double precision default 100, why text default null, by text default null, digest text default null,
    rollback boolean default false, step text default null)
returns bigint
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_by text := pawl._by(begin_bulk.by);
    v_filter json;
    v_bulk bigint;
begin
    perform pawl._only_read_committed('begin_bulk');
    v_filter := pawl._bulk_filter('begin_bulk', begin_bulk.act, begin_bulk.filter, v_now);
    if begin_bulk.digest is not null and begin_bulk.digest <> pawl._bulk_digest(begin_bulk.act, v_filter) then
        -- guard:bulk_digest
        perform pawl._raise('PW007', 'the digest is of another action or filter', 'Pass the filter and the digest that preview_bulk() returned.');
    end if;
    if coalesce(begin_bulk.rollback, false) and begin_bulk.act <> 'cancel' or begin_bulk.step is not null and begin_bulk.act <> 'wake' then
        -- guard:bulk_options
        perform pawl._raise('PW003', format('rollback or step does not apply to %s', begin_bulk.act), 'cancel takes rollback, and wake takes step.');
    end if;
    if begin_bulk.rate is null or begin_bulk.rate = 'NaN' or begin_bulk.rate < 0.01 or begin_bulk.rate > 1000 then
        -- guard:bulk_rate_range
        perform pawl._raise('PW003', 'rate must be from 0.01 to 1000 runs in a second');
    end if;
    -- 1. A is bound to a tenant, and begins bulks in a loop. 2. B, of another tenant or of all, needs one. So each tenant has its own 100.
    -- guard:bulk_max_tenant
    if (select count(*) from (
            select from pawl_data.bulk b where b.ended_at is null and b.filter ->> 'tenant' is not distinct from v_filter ->> 'tenant' limit 100) c) = 100 then
        -- guard:bulk_max
        perform pawl._raise('PW007', '100 bulks are in progress', 'Wait for one, or stop one with pawl.stop_bulk().');
    end if;
    insert into pawl_data.bulk (act, filter, rate, started_at, started_by, why, rollback, step, position, due_at)
    values (begin_bulk.act, v_filter, begin_bulk.rate, v_now, left(v_by, 150), left(begin_bulk.why, 1000),
            coalesce(begin_bulk.rollback, false), begin_bulk.step, pawl._id_floor((v_filter ->> 'before')::timestamptz), v_now)
    returning bulk_no into v_bulk;
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'begin_bulk', v_by, json_build_object('bulk', v_bulk, 'act', begin_bulk.act, 'filter', v_filter, 'why', begin_bulk.why,
        'rollback', coalesce(begin_bulk.rollback, false), 'step', begin_bulk.step));
    return v_bulk;
end
$$;
comment on function pawl.begin_bulk(text, json, double precision, text, text, text, boolean, text) is
'Begins an action on all runs that a filter finds, in the background, and returns its number. act and filter: as for preview_bulk(); with the digest of that call, another action or filter is refused. Housekeeping continues it at the given rate (runs in a second), whatever becomes of the caller, as long as a session ticks, such as a worker or pawl keeper; a session that is bound to a tenant continues the bulks of its tenant only. rollback, of cancel: undo what the steps did first. step, of wake: only the backoff or sleep of this step. Newer runs come first, and each run has one turn: runs that are triggered later, or fail again, have none. A run that another transaction holds gets its turn at the end, for a minute. list_bulks() shows how far it is; stop_bulk() ends it. The audit log of each run names the bulk.
If repeated: begins another bulk, in which most runs answer already.
Locks: none that others wait for.
Errors: PW001 another tenant than the caller''s, PW003 the action, the filter, the rate, rollback or step is invalid, PW007 the digest differs, or 100 bulks of the tenant, or of all tenants, are in progress, PW008 isolation level.
Limits: 200 runs or 100 ms in each piece, 1,000 runs in a second, 100 bulks at a time of each tenant and of all tenants; a bulk is listed as long as runs are retained.';

create or replace function pawl.stop_bulk(bulk bigint, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
declare
    v_now timestamptz := pawl.now();
    v_by text := pawl._by(stop_bulk.by);
    v_bound text := pawl._bound_tenant('stop_bulk');
    v_bulk pawl_data.bulk;
begin
    perform pawl._only_read_committed('stop_bulk');
    -- Waits for a piece in progress: after this call no run has its turn.
    select b.* into v_bulk from pawl_data.bulk b where b.bulk_no = stop_bulk.bulk
      -- guard:stop_bulk_tenant
      and (v_bound is null or b.filter ->> 'tenant' = v_bound)
    for update;
    if not found then
        return 'not_found';
    end if;
    if v_bulk.ended_at is not null then
        return 'already';
    end if;
    update pawl_data.bulk b set ended_at = v_now, stopped_by = v_by where b.bulk_no = stop_bulk.bulk;
    insert into pawl_data.action (at, what, who, detail) values (v_now, 'stop_bulk', v_by, json_build_object('bulk', stop_bulk.bulk));
    return 'ok';
end
$$;
comment on function pawl.stop_bulk(bigint, text) is
'Stops a bulk: no further run has its turn. What was done stays done. Answers ok, already (it has ended), or not_found.
If repeated: answers already.
Locks: the row of the bulk; waits two seconds at most for a piece in progress.
Errors: PW008 isolation level, 55P03 a piece was in progress for two seconds: call it again.
Limits: the cost is constant.';
