-- SPDX-License-Identifier: Apache-2.0
-- Pausing everything: no claim returns a task and no schedule fires, until an operator resumes.

-- Waits until no transaction is in progress that writes tasks, two seconds at most, and locks the table of tasks. Returns false if there was
-- always one.
create or replace function pawl._lock_all_tasks()
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set lock_timeout to '1200ms'
as $$
begin
    -- 1. A producer keeps its transaction open. 2. This call waits for it, and all later writes wait for this call. So it waits a moment
    -- only, and tries again. The last attempt is longer: a vacuum of the table gives way after deadlock_timeout, which is a second by default.
    for v_attempt in 1..5 loop
        perform set_config('lock_timeout', case when v_attempt < 5 then '100ms' else '1200ms' end, true);
        begin
            lock table pawl_data.task in exclusive mode;
            return true;
        exception
            when lock_not_available then
                continue when v_attempt = 5;
                perform pg_sleep(0.1);
        end;
    end loop;
    return false;
end
$$;
comment on function pawl._lock_all_tasks() is 'locks the table of tasks, without a long wait of other writes';

create or replace function pawl.pause_all(why text default null, by text default null, refuse_triggers boolean default false)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_by text := pawl._by(pause_all.by);
    v_refuse boolean := coalesce(pause_all.refuse_triggers, false);
    v_alone boolean;
    v_new boolean;
    v_changed boolean;
begin
    perform pawl._only_read_committed('pause_all');
    perform pawl._only_unbound('pause_all');
    -- 1. A, a claim, has picked tasks; it has found nothing paused. 2. This call returns. 3. A commits, and its worker executes the tasks.
    -- With the lock this call waits for A, or A for this call; then A sees the pause. The same counts for a firing.
    -- guard:pause_all_lock
    v_alone := pawl._lock_all_tasks();
    insert into pawl_data.pause (subject, name, paused_at, paused_by, why) values ('all', '', v_now, v_by, pause_all.why)
    on conflict on constraint pause_is_unique do nothing;
    v_new := found;
    update pawl_data.setting s set paused = true, refuses_triggers = v_refuse
    where s.only_row and (not s.paused or s.refuses_triggers <> v_refuse);
    v_changed := found;
    if v_new or v_changed then
        insert into pawl_data.action (at, what, who, detail)
        values (v_now, 'pause_all', v_by, json_build_object('why', pause_all.why, 'refuse_triggers', v_refuse));
    end if;
    return case when not v_alone then 'pausing' when v_new then 'ok' else 'already' end;
end
$$;
comment on function pawl.pause_all(text, text, boolean) is
'Pauses everything: no claim returns a task, no schedule fires and no event starts runs until resume_all(). Runs that workers hold continue and end. Triggers are accepted, and events and signals are stored; with refuse_triggers, trigger and trigger_many raise PW013. Timers, time limits, lost leases and the other housekeeping go on. Runs that were paused by themselves, and paused workflows, queues and schedules, stay so after resume_all(). Answers ok or already: no claim and no firing is in progress, and none begins any more. Answers pausing if a transaction that writes tasks has been open for two seconds, such as a producer''s: everything is paused, but if that transaction has claimed before, its claim counts when it commits. Repeat the call to wait for it.
If repeated: answers already, or pausing; who paused first, and why, stays. refuse_triggers takes the new value.
Locks: the table of tasks, until the caller commits: it waits for writes in progress, two seconds at most in five attempts, and later writes wait as long as one attempt, at most 1.2 seconds. The row of settings.
Errors: PW007 the role is bound to one tenant, PW008 isolation level, 55P03 another transaction held the row of settings for two seconds.
Limits: the cost is constant.';

create or replace function pawl.resume_all(by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
begin
    perform pawl._only_read_committed('resume_all');
    perform pawl._only_unbound('resume_all');
    delete from pawl_data.pause p where p.subject = 'all';
    if not found then
        return 'already';
    end if;
    update pawl_data.setting s set paused = false, refuses_triggers = false where s.only_row;
    insert into pawl_data.action (at, what, who) values (v_now, 'resume_all', pawl._by(resume_all.by));
    -- Runs of many queues may be ready. At most 64 sessions listen; each claims, and looks again.
    -- guard:resume_all_wakes
    perform pawl._hint(w.session_id, '') from pawl_data.worker w where w.listens and w.ended_at is null;
    return 'ok';
end
$$;
comment on function pawl.resume_all(text) is
'Ends pause_all(): claims return tasks again, schedules fire, and triggers are accepted. Nominal times of schedules that have passed in the meantime are late, as after any stop of housekeeping, and follow the catch_up of each schedule. Answers ok or already.
If repeated: answers already.
Locks: the row of settings.
Errors: PW007 the role is bound to one tenant, PW008 isolation level, 55P03 another transaction held the row of settings for two seconds.
Limits: the cost is constant.';
