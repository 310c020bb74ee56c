-- SPDX-License-Identifier: Apache-2.0
-- Schedules as a person sees them: lists, skipped times, a preview of the calendar, and why a schedule did not fire.

create or replace function pawl.list_schedules(
    only_schedule text default null, only_tenant text default null, only_workflow text default null, cursor bigint default null, max_rows int default 100)
returns table (
    schedule text, tenant text, workflow text, cron text, every interval, at timestamptz, zone text, next_at timestamptz, paused boolean, last_at timestamptz,
    last_run uuid, fired bigint, skipped bigint, missed bigint, catch_up text, catch_up_within interval, overlap text, jitter interval,
    starts_at timestamptz, ends_at timestamptz, input json, priority int, metadata json, limit_key text, waiting_at timestamptz, last_error text, created_at timestamptz, next_cursor bigint)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant('list_schedules');
begin
    return query
    select s.name, s.tenant, s.workflow, s.cron, s.every, s.once_at, s.zone, nullif(s.next_at, 'infinity'), s.paused, s.last_at, s.last_run, s.fired,
           s.skipped, s.missed, s.catch_up, s.catch_up_within, s.overlap, s.jitter, s.starts_at, s.ends_at, s.input, s.priority, s.metadata,
           s.limit_key, s.waiting_at, s.last_error, s.created_at, s.schedule_id
    from pawl_data.schedule s
    where (v_bound is null or s.tenant = v_bound) and (only_tenant is null or s.tenant = only_tenant)
      and (only_schedule is null or s.name = only_schedule or right(only_schedule, 1) = '*' and starts_with(s.name, left(only_schedule, -1)))
      and (only_workflow is null or s.workflow = only_workflow)
      and (cursor is null or s.schedule_id > cursor)
    order by s.schedule_id
    limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_schedules(text, text, text, bigint, int) is
'Schedules in the order of their creation, with their options, their next nominal time (null: there is none), and how many times were fired, skipped because an earlier run had not ended, and missed. only_schedule may be a prefix pattern. Pass next_cursor of the last row as cursor to go on.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 1,000 rows; reads all schedules where the filters match few.';

create or replace function pawl._schedule(p_tenant text, p_name text, p_verb text)
returns pawl_data.schedule
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_tenant text := pawl._tenant(p_tenant, p_verb);
    v_schedule pawl_data.schedule;
begin
    select s.* into v_schedule from pawl_data.schedule s where s.tenant = v_tenant and s.name = p_name;
    if not found then
        perform pawl._raise('PW001', format('schedule "%s" not found', p_name));
    end if;
    return v_schedule;
end
$$;
comment on function pawl._schedule(text, text, text) is 'the row of a schedule, or an error';

create or replace function pawl.list_skips(name text, tenant text default '', before timestamptz default null, max_rows int default 100)
returns table (first_at timestamptz, last_at timestamptz, times bigint, reason text, run_id uuid, noted_at timestamptz)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_schedule pawl_data.schedule := pawl._schedule(list_skips.tenant, list_skips.name, 'list_skips');
begin
    return query
    select k.first_at, k.last_at, k.times, k.reason, k.run_id, k.noted_at
    from pawl_data.schedule_skip k
    where k.schedule_id = v_schedule.schedule_id and (before is null or k.first_at < before)
    order by k.first_at desc
    limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_skips(text, text, timestamptz, int) is
'Nominal times at which a schedule triggered no run, newest first, one row for times that follow each other. reason: missed (catch_up left them out), paused (they lay in a pause, and catch_up left them out), overlap (run_id had not ended). Kept as long as events. Pass the last first_at as before to go on.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW003 tenant is malformed.
Limits: 1,000 rows.';

create or replace function pawl.preview_schedule(
    cron text default null, zone text default 'UTC', name text default null, since timestamptz default null, max_rows int default 10, tenant text default '')
returns table (at timestamptz, local timestamp, zone_offset interval, note text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_since timestamptz := coalesce(since, pawl.now());
    v_schedule pawl_data.schedule;
    v_max int := least(greatest(max_rows, 0), 1000);
begin
    perform pawl._bound_tenant('preview_schedule');
    if num_nonnulls(cron, name) <> 1 then
        perform pawl._raise('PW003', 'give an expression or the name of a schedule');
    end if;
    if not isfinite(v_since) then
        perform pawl._raise('PW003', 'since must be finite');
    end if;
    if name is not null then
        v_schedule := pawl._schedule(preview_schedule.tenant, preview_schedule.name, null);
    else
        perform pawl._check_cron(preview_schedule.cron, preview_schedule.zone, v_since);
        v_schedule.cron := preview_schedule.cron;
        v_schedule.zone := preview_schedule.zone;
    end if;
    return query
    select t.at, t.at at time zone v_schedule.zone, (t.at at time zone v_schedule.zone) - (t.at at time zone 'UTC'), t.note
    from pawl._schedule_times(v_schedule, v_since, v_since + interval '78900 hours', v_max) t;
end
$$;
comment on function pawl.preview_schedule(text, text, text, timestamptz, int, text) is
'The next nominal times after since (by default now) of a cron expression in a zone, or of a schedule: as an instant, as the wall time of the zone, and with its offset from UTC. note tells what the calendar does where the clock changes: moved (the wall time does not exist, so it is fired as much later), first of two (the wall time exists twice, and this is the first), second of two (only with an hour field that has a star or a range).
If repeated: returns the same.
Locks: none.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW003 the expression or the zone is invalid.
Limits: 1,000 times within nine years.';

-- A nominal time in the zone of its schedule: 2026-10-25 at 02:30 Europe/Berlin (00:30 UTC).
create or replace function pawl._time_text(p_at timestamptz, p_zone text)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_form text := case when date_part('second', p_at) = 0 then 'YYYY-MM-DD HH24:MI' else 'YYYY-MM-DD HH24:MI:SS' end;
begin
    return to_char(p_at at time zone p_zone, v_form) || ' ' || p_zone
        || case when p_zone = 'UTC' then ''
                else format(' (%s UTC)', to_char(p_at at time zone 'UTC',
                    case when (p_at at time zone 'UTC')::date = (p_at at time zone p_zone)::date then replace(v_form, 'YYYY-MM-DD ', '') else v_form end)) end;
end
$$;
comment on function pawl._time_text(timestamptz, text) is 'a nominal time as a person reads it';

-- The sentence about the last times, if the newest of them was skipped.
create or replace function pawl._why_skipped(p_schedule pawl_data.schedule)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_skip pawl_data.schedule_skip;
    v_times text;
begin
    select k.* into v_skip from pawl_data.schedule_skip k where k.schedule_id = p_schedule.schedule_id and k.first_at = p_schedule.skip_at;
    if not found then
        return '';
    end if;
    v_times := case when v_skip.times = 1 then pawl._time_text(v_skip.first_at, p_schedule.zone)
                    else format('%s times from %s to %s', v_skip.times, pawl._time_text(v_skip.first_at, p_schedule.zone),
                        pawl._time_text(v_skip.last_at, p_schedule.zone)) end;
    return case v_skip.reason
        when 'overlap' then format(' Skipped %s: run %s had not ended (overlap is %s).', v_times, v_skip.run_id, p_schedule.overlap)
        when 'paused' then ' Skipped ' || v_times || ', in a pause' || coalesce(' (catch_up was ' || pawl._catch_up_of_pause(p_schedule, v_skip.last_at) || ')', '') || '.'
        else format(' Missed %s: housekeeping was late (catch_up is %s, catch_up_within %s).', v_times, p_schedule.catch_up, p_schedule.catch_up_within) end;
end
$$;
comment on function pawl._why_skipped(pawl_data.schedule) is 'the sentence for nominal times that were skipped last';

create or replace function pawl.why_schedule(name text, tenant text default '')
returns text
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl.now();
    s pawl_data.schedule := pawl._schedule(why_schedule.tenant, why_schedule.name, 'why_schedule');
    v_note text;
    v_why text;
begin
    if s.paused then
        v_why := format('Paused by %s at %s (%s ago)%s. Resume it with pawl.resume_schedule().', s.paused_by,
            to_char(s.paused_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'), pawl._ago(v_now - s.paused_at), coalesce(': ' || left(s.paused_why, 200), ''));
    elsif pawl._all_paused_text() is not null then
        v_why := format('Fires nothing: %s. Resume everything with pawl.resume_all().', pawl._all_paused_text());
    elsif s.last_error is not null then
        v_why := format('Due since %s, but it failed: %s. The next attempt is in %s.', pawl._time_text(s.next_at, s.zone), s.last_error, pawl._ago(s.fire_at - v_now));
    elsif s.waiting_at is not null then
        v_why := format('The time %s waits until run %s has ended (overlap is %s).', pawl._time_text(s.waiting_at, s.zone), s.last_run, s.overlap);
    elsif s.next_at = 'infinity' then
        v_why := format('Fires no more: its last time was %s.', pawl._time_text(s.handled_at, s.zone));
    elsif s.fire_at <= v_now - interval '5 s' then
        v_why := format('Due since %s (%s ago), but no session has fired it. %s.', pawl._time_text(s.next_at, s.zone), pawl._ago(v_now - s.fire_at),
            case when pawl._keeper_missing(v_now) then pawl._keeper_cure() else 'Other schedules are ahead of it: see pawl.doctor()' end);
    else
        v_note := (select t.note from pawl._schedule_times(s, s.next_at - interval '1 microsecond', s.next_at, 1) t);
        v_why := format('Fires next at %s, in %s%s.', pawl._time_text(s.next_at, s.zone), pawl._ago(s.fire_at - v_now),
            case v_note when 'moved' then '; its wall time does not exist on that day, so it is moved'
                        when 'first of two' then '; that wall time exists twice, and this is the first'
                        when 'second of two' then '; that wall time exists twice, and this is the second' else '' end)
            || case when s.last_at > v_now then format(' The clock was moved backward: %s has been fired.', pawl._time_text(s.last_at, s.zone)) else '' end;
    end if;
    return pawl._one_line(v_why || pawl._why_skipped(s));
end
$$;
comment on function pawl.why_schedule(text, text) is
'States in one line when a schedule fires next or what keeps it from firing, what to do about it, and what became of the last time if that triggered no run.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW003 tenant is malformed.
Limits: the cost is constant.';
