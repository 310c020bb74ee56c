-- SPDX-License-Identifier: Apache-2.0
-- What an operator does to schedules: create, pause, resume, delete, backfill. house/schedule.sql fires them.

create or replace function pawl._check_scheduled_object(p_object json, p_name text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:schedule_input
    if json_typeof(p_object) <> 'object' then
        perform pawl._raise('PW003', format('%s of a schedule must be a JSON object', p_name), 'A member "scheduled" is added to it at each time.');
    end if;
    if exists (select from json_object_keys(p_object) k where k = 'scheduled') then
        perform pawl._raise('PW003', format('%s has a member "scheduled"', p_name), 'The schedule adds it; give yours another name.');
    end if;
    -- With room for the member.
    perform pawl._check_payload(pawl._with_member(p_object, 'scheduled', to_json(repeat('x', 600)))::text);
end
$$;
comment on function pawl._check_scheduled_object(json, text) is 'refuses an input that the member "scheduled" cannot be added to';

-- Refuses a schedule with options that are out of range.
create or replace function pawl._check_schedule(p_schedule pawl_data.schedule, p_now timestamptz)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:schedule_name
    if p_schedule.name is null or p_schedule.name !~ '^[a-z0-9_-]+([.][a-z0-9_-]+)*$' or length(p_schedule.name) > 200 then
        perform pawl._raise('PW003', format('bad schedule name "%s"', p_schedule.name),
            'Names are dotted and lower case, of a-z, 0-9, _ and -, at most 200 characters: billing.nightly');
    end if;
    if num_nonnulls(p_schedule.cron, p_schedule.every, p_schedule.once_at) <> 1 then
        perform pawl._raise('PW003', 'a schedule has one calendar: cron, every or at');
    end if;
    if p_schedule.catch_up is null or p_schedule.catch_up not in ('none', 'last', 'all')
       or p_schedule.overlap is null or p_schedule.overlap not in ('skip', 'queue', 'cancel', 'allow') then
        perform pawl._raise('PW003', format('unknown catch_up "%s" or overlap "%s"', p_schedule.catch_up, p_schedule.overlap),
            'catch_up is none, last or all; overlap is skip, queue, cancel or allow.');
    end if;
    -- Months and years have no exact length.
    -- guard:schedule_exact
    if extract(year from p_schedule.every) <> 0 or extract(month from p_schedule.every) <> 0 or extract(epoch from p_schedule.every) not between 1 and 157680000
       or extract(epoch from p_schedule.every) % 1 <> 0 then
        perform pawl._raise('PW003', 'every must be whole seconds, at least one and at most 1825 days, without months and years', 'Use cron for months.');
    end if;
    -- guard:schedule_range
    if coalesce(p_schedule.jitter < interval '0' or p_schedule.jitter > interval '24 hours' or p_schedule.catch_up_within < interval '0'
                or p_schedule.catch_up_within > interval '3650 days', true) then
        perform pawl._raise('PW003', 'jitter must be from 0 to 24 hours, catch_up_within from 0 to 3650 days');
    end if;
    if not isfinite(coalesce(p_schedule.once_at, p_now)) or not isfinite(coalesce(p_schedule.starts_at, p_now)) or not isfinite(coalesce(p_schedule.ends_at, p_now))
       or p_schedule.ends_at <= coalesce(p_schedule.starts_at, '-infinity') then
        perform pawl._raise('PW003', 'at, starts_at and ends_at must be finite, and ends_at must be after starts_at');
    end if;
    perform pawl._check_trigger(null, p_schedule.priority, null, p_schedule.limit_key);
    perform pawl._check_scheduled_object(p_schedule.input, 'input');
    if p_schedule.metadata is not null then
        perform pawl._check_scheduled_object(p_schedule.metadata, 'metadata');
    end if;
    if p_schedule.cron is not null then
        perform pawl._check_cron(p_schedule.cron, p_schedule.zone, p_now);
    else
        perform pawl._check_zone(p_schedule.zone);
    end if;
end
$$;
comment on function pawl._check_schedule(pawl_data.schedule, timestamptz) is 'refuses an invalid schedule';

-- 1. An operator that is bound to one tenant creates a hundred thousand schedules for each second. 2. Schedules of other tenants are due.
-- Housekeeping fires some hundred in a second, so without this those would be late forever.
create or replace function pawl._limit_schedules(p_tenant text, p_every interval)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:schedule_share
    if pawl._bound_tenant(null) is not null and (p_every < interval '1 min' or 1000 <= (
        select count(*) from (select from pawl_data.schedule s where s.tenant = p_tenant limit 1000) s)) then
        perform pawl._raise('PW007', 'a role that is bound to a tenant creates at most 1000 schedules, and none for less than a minute',
            'Ask an operator that is not bound to a tenant.');
    end if;
end
$$;
comment on function pawl._limit_schedules(text, interval) is 'refuses more schedules than a tenant''s own operator may create';

create or replace function pawl.create_schedule(
    name text, workflow text, cron text default null, every interval default null, at timestamptz default null, zone text default 'UTC',
    input json default '{}', tenant text default '', priority int default null, metadata json default null, limit_key text default null,
    catch_up text default 'last', catch_up_within interval default '1 day', overlap text default 'skip', jitter interval default '0',
    starts_at timestamptz default null, ends_at timestamptz default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '10s'
as $$
declare
    v_now timestamptz := pawl.now();
    v pawl_data.schedule;
    v_old pawl_data.schedule;
    v_made int;
begin
    perform pawl._only_read_committed('create_schedule');
    -- guard:crontab_unbound
    if starts_with(workflow, 'crontab.') then
        perform pawl._only_unbound('create_schedule');
    end if;
    v.tenant := pawl._tenant(tenant, 'create_schedule');
    v.name := name;
    v.workflow := (pawl._workflow(workflow)).name;
    v.cron := cron;
    v.every := every;
    v.once_at := date_trunc('second', at);
    v.zone := zone;
    v.input := input;
    v.priority := priority;
    v.metadata := metadata;
    v.limit_key := limit_key;
    v.catch_up := catch_up;
    v.catch_up_within := catch_up_within;
    v.overlap := overlap;
    v.jitter := jitter;
    v.starts_at := date_trunc('second', starts_at);
    v.ends_at := ends_at;
    perform pawl._check_schedule(v, v_now);
    v.anchor_at := coalesce(v.starts_at, date_trunc('second', v_now));
    -- Times before now are not made up for: backfill_schedule() does that. A time given with at that has just passed is fired.
    v.handled_at := case when v.once_at is null then v_now else least(v_now, v.once_at - interval '1 s') end;
    v.next_at := pawl._next_time(v, v.handled_at);
    select s.* into v_old from pawl_data.schedule s where s.tenant = v.tenant and s.name = v.name;
    if not found then
        perform pawl._limit_schedules(v.tenant, every);
        insert into pawl_data.schedule (tenant, name, workflow, cron, every, once_at, zone, input, priority, metadata, limit_key, catch_up,
            catch_up_within, overlap, jitter, starts_at, ends_at, anchor_at, handled_at, next_at, fire_at, computed_at, created_at)
        values (v.tenant, v.name, v.workflow, v.cron, v.every, v.once_at, v.zone, v.input, v.priority, v.metadata, v.limit_key, v.catch_up,
            v.catch_up_within, v.overlap, v.jitter, v.starts_at, v.ends_at, v.anchor_at, v.handled_at, v.next_at, pawl._jittered(v, v.next_at), v_now, v_now)
        -- guard:schedule_made_once
        on conflict on constraint schedule_name_is_unique do nothing;
        get diagnostics v_made = row_count;
        if v_made = 1 then
            insert into pawl_data.action (at, what, who, detail)
            values (v_now, 'create_schedule', pawl._by(null), json_build_object('schedule', v.name, 'tenant', v.tenant, 'workflow', v.workflow));
            return 'created';
        end if;
        -- Another transaction has created it since.
        select s.* into v_old from pawl_data.schedule s where s.tenant = v.tenant and s.name = v.name;
    end if;
    if (v_old.workflow, v_old.cron, v_old.every, v_old.once_at, v_old.zone, v_old.input::text, v_old.priority, v_old.metadata::text, v_old.limit_key,
        v_old.catch_up, v_old.catch_up_within, v_old.overlap, v_old.jitter, v_old.starts_at, v_old.ends_at)
       is distinct from
       (v.workflow, v.cron, v.every, v.once_at, v.zone, v.input::text, v.priority, v.metadata::text, v.limit_key,
        v.catch_up, v.catch_up_within, v.overlap, v.jitter, v.starts_at, v.ends_at) then
        return 'differs';
    end if;
    return 'exists';
end
$$;
comment on function pawl.create_schedule(text, text, text, interval, timestamptz, text, json, text, int, json, text, text, interval, text, interval, timestamptz, timestamptz) is
'Creates a schedule, which triggers runs of a workflow: by a calendar (cron: five fields, in the IANA zone), at an interval (every: exact, counted from starts_at or from now), or once (at). Answers created, exists, or differs (it exists with other options, which stay as they are). Housekeeping fires it: a worker or pawl keeper must run. The input of each run is the object input with one member more, "scheduled": by, at, local, zone. The first nominal time is after now, and not before starts_at; the last one is before ends_at. A wall time that the clock jumps over is fired as much later; one that exists twice is fired once, the first time; an hour field with a star or a range counts real hours instead. catch_up decides about times that are more than a minute late: none, last (the newest), all; no older than catch_up_within. overlap decides while the run of an earlier time has not ended: skip, queue (the newest time waits), cancel (that run), allow. jitter delays each time by a part of it, always the same for one name and time.
If repeated: answers exists or differs, and never changes anything.
Locks: a new row of its name; waits for another transaction that creates the same, ten seconds at most.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 an expression, zone or option that is invalid, PW007 more schedules than a tenant''s own operator may create, or a workflow crontab.NAME and the role is bound to a tenant, PW008 isolation level, PW009 input over a limit; 55P03 another transaction is creating it: call it again.
Limits: nine years of a calendar are searched; a role that is bound to a tenant creates at most 1,000, and none for less than a minute.';

-- Locks a schedule, waiting for two seconds at most.
create or replace function pawl._grab_schedule(p_tenant text, p_name text, p_verb text)
returns pawl_data.schedule
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_tenant text := pawl._tenant(p_tenant, p_verb);
    v_schedule pawl_data.schedule;
    -- Real time, not pawl.now(): a test clock may stand still.
    v_until timestamptz := clock_timestamp() + interval '2 s';
begin
    loop
        -- 1. A pauses a schedule. 2. Housekeeping fires it, and has not committed. A waits for that, so that no time is fired after A.
        -- guard:schedule_lock
        select s.* into v_schedule from pawl_data.schedule s where s.tenant = v_tenant and s.name = p_name for update skip locked;
        if found then
            return v_schedule;
        end if;
        if not exists (select from pawl_data.schedule s where s.tenant = v_tenant and s.name = p_name) then
            perform pawl._raise('PW001', format('schedule "%s" not found', p_name));
        end if;
        if clock_timestamp() >= v_until then
            perform pawl._raise('PW010', format('another transaction holds schedule "%s"', p_name), 'Retry the call.');
        end if;
        perform pg_sleep(0.01);
    end loop;
    return null;
end
$$;
comment on function pawl._grab_schedule(text, text, text) is 'locks a schedule, or raises';

-- Puts the last pause of a schedule among the earlier ones, before another begins. Those whose times are handled are forgotten.
create or replace function pawl._keep_pause(p_schedule pawl_data.schedule)
returns pawl_data.schedule
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    s pawl_data.schedule := p_schedule;
begin
    -- 1. A pause ends, with catch_up none. 2. The next one begins before housekeeping has handled the times of the first. Without the list these
    -- would lie in no pause, and be fired.
    -- guard:pause_kept
    select coalesce(array_agg(e.pause), '{}'), coalesce(array_agg(e.catch_up), '{}') into s.earlier_pauses, s.earlier_catch_ups
    from unnest(s.earlier_pauses || tstzrange(s.paused_at, s.resumed_at), s.earlier_catch_ups || s.resumed_catch_up) e (pause, catch_up)
    where s.next_at < upper(e.pause);
    -- guard:pauses_max
    if cardinality(s.earlier_pauses) > 100 then
        perform pawl._raise('PW010', format('housekeeping has not handled the times of 100 pauses of schedule "%s"', s.name),
            'Retry the call when a worker or pawl keeper has fired it.');
    end if;
    return s;
end
$$;
comment on function pawl._keep_pause(pawl_data.schedule) is 'a schedule whose last pause is among the earlier ones';

create or replace function pawl.pause_schedule(name text, why text default null, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl.now();
    v_schedule pawl_data.schedule;
begin
    perform pawl._only_read_committed('pause_schedule');
    v_schedule := pawl._grab_schedule(tenant, name, 'pause_schedule');
    if v_schedule.paused then
        return 'already';
    end if;
    v_schedule := pawl._keep_pause(v_schedule);
    update pawl_data.schedule s
    set paused = true, earlier_pauses = v_schedule.earlier_pauses, earlier_catch_ups = v_schedule.earlier_catch_ups, paused_at = v_now, paused_by = pawl._by(by), paused_why = why, resumed_at = null, resumed_catch_up = null
    where s.schedule_id = v_schedule.schedule_id;
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'pause_schedule', pawl._by(by), json_build_object('schedule', name, 'tenant', v_schedule.tenant, 'why', why));
    return 'ok';
end
$$;
comment on function pawl.pause_schedule(text, text, text, text) is
'Pauses a schedule: it triggers no run until resume_schedule(). Runs that it has triggered continue. Answers ok or already.
If repeated: answers already.
Locks: the row of the schedule, waiting two seconds at most.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW003 tenant is malformed, PW008 isolation level, PW010 another transaction holds the schedule, or housekeeping has not handled the times of 100 earlier pauses.
Limits: 100 pauses that housekeeping has not handled.';

create or replace function pawl.resume_schedule(name text, by text default null, catch_up text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl.now();
    v_schedule pawl_data.schedule;
begin
    perform pawl._only_read_committed('resume_schedule');
    if catch_up not in ('none', 'last', 'all') then
        perform pawl._raise('PW003', format('unknown catch_up "%s"', catch_up), 'Use none, last or all.');
    end if;
    v_schedule := pawl._grab_schedule(tenant, name, 'resume_schedule');
    if not v_schedule.paused then
        return 'already';
    end if;
    update pawl_data.schedule s
    -- guard:resume_catch_up
    set paused = false, resumed_at = v_now, resumed_catch_up = coalesce(resume_schedule.catch_up, s.catch_up),
        -- Times of others that are due now precede its own, see _fire().
        -- guard:resume_backlog
        backlog = s.next_at <= v_now
    where s.schedule_id = v_schedule.schedule_id;
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'resume_schedule', pawl._by(by), json_build_object('schedule', name, 'tenant', v_schedule.tenant, 'catch_up', catch_up));
    return 'ok';
end
$$;
comment on function pawl.resume_schedule(text, text, text, text) is
'Lets a paused schedule trigger runs again. The times in the pause follow catch_up, or the policy of the schedule. Answers ok or already.
If repeated: answers already.
Locks: the row of the schedule, waiting two seconds at most.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW003 unknown catch_up, PW008 isolation level, PW010 another transaction holds the schedule.
Limits: the cost is constant.';

create or replace function pawl.delete_schedule(name text, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_schedule pawl_data.schedule;
begin
    perform pawl._only_read_committed('delete_schedule');
    v_schedule := pawl._grab_schedule(tenant, name, 'delete_schedule');
    delete from pawl_data.schedule_skip k where k.schedule_id = v_schedule.schedule_id;
    delete from pawl_data.schedule s where s.schedule_id = v_schedule.schedule_id;
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'delete_schedule', pawl._by(by), json_build_object('schedule', name, 'tenant', v_schedule.tenant));
    return 'ok';
end
$$;
comment on function pawl.delete_schedule(text, text, text) is
'Deletes a schedule and the list of the times that it skipped. Runs that it has triggered stay. A schedule of the same name that is created later triggers no second run for a time that has a run, as long as that is retained. Answers ok.
If repeated: raises PW001.
Locks: the row of the schedule, waiting two seconds at most.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW003 tenant is malformed, PW008 isolation level, PW010 another transaction holds the schedule.
Limits: the cost is constant.';

create or replace function pawl.backfill_schedule(name text, since timestamptz, until timestamptz, max_rows int default 100, tenant text default '', by text default null)
returns table (at timestamptz, run_id uuid, created boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl._write_time();
    v_schedule pawl_data.schedule;
    v_count int := 0;
begin
    perform pawl._only_read_committed('backfill_schedule');
    -- guard:backfill_past
    if coalesce(since > until or until > v_now or not isfinite(since), true) then
        perform pawl._raise('PW003', 'since must be finite and not after until, and until must not be after now');
    end if;
    v_schedule := pawl._grab_schedule(tenant, name, 'backfill_schedule');
    for at, run_id, created in
        select t.at, r.run_id, r.created
        -- guard:backfill_max
        from pawl._schedule_times(v_schedule, since - interval '1 microsecond', until, least(greatest(max_rows, 0), 1000)) t
        cross join lateral pawl._trigger_scheduled(v_schedule, t.at, v_now) r
    loop
        v_count := v_count + created::int;
        return next;
    end loop;
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'backfill_schedule', pawl._by(by),
            json_build_object('schedule', name, 'tenant', v_schedule.tenant, 'since', since, 'until', until, 'created', v_count));
end
$$;
comment on function pawl.backfill_schedule(text, timestamptz, timestamptz, int, text, text) is
'Triggers the runs of nominal times that have passed, from since to until, oldest first. A time that has its run already is returned with that run, and created is false. overlap does not count, nor does a pause. If as many rows as max_rows are returned, call it again with the last time as since.
If repeated: returns the same runs, with created false, as long as they are retained.
Locks: the row of the schedule, waiting two seconds at most, and rows of new keys.
Errors: PW001 no such schedule, or another tenant than the caller''s, PW002 its workflow does not exist any more, PW003 since or until is invalid, PW008 isolation level, PW010 another transaction holds the schedule.
Limits: 1,000 runs.';
