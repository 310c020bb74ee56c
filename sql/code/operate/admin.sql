-- SPDX-License-Identifier: Apache-2.0
-- What an operator does to workflows, queues, workers and the database.

create or replace function pawl._set_pause(p_subject text, p_name text, p_on boolean, p_why text, p_by text)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_verb text := case when p_on then 'pause_' else 'resume_' end || p_subject;
    v_done int;
begin
    perform pawl._only_read_committed(v_verb);
    perform pawl._only_unbound(v_verb);
    if p_subject = 'workflow' and not exists (select from pawl_data.workflow w where w.name = p_name)
       or p_subject = 'queue' and not exists (select from pawl_data.queue q where q.name = p_name) then
        perform pawl._raise('PW001', format('%s "%s" not found', p_subject, p_name));
    end if;
    if p_on then
        insert into pawl_data.pause (subject, name, paused_at, paused_by, why) values (p_subject, p_name, pawl.now(), p_by, p_why)
        on conflict on constraint pause_is_unique do nothing;
    else
        delete from pawl_data.pause p where p.subject = p_subject and p.name = p_name;
    end if;
    get diagnostics v_done = row_count;
    if v_done = 0 then
        return 'already';
    end if;
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), v_verb, p_by, json_build_object(p_subject, p_name, 'why', p_why));
    if not p_on then
        -- Wakes one idle worker for each tenant that has its own workers, and one that is not bound to a tenant.
        perform pawl._wake_one(q.queue_id, k.tenant, pawl.now())
        from pawl_data.queue q join pawl_data.workflow w on w.workflow_id = q.workflow_id
        cross join (select distinct k.tenant from pawl_data.worker k where k.listens and k.ended_at is null) k
        where case p_subject when 'queue' then q.name else w.name end = p_name;
    end if;
    return 'ok';
end
$$;
comment on function pawl._set_pause(text, text, boolean, text, text) is 'pauses or resumes a workflow or a queue';

create or replace function pawl.pause_workflow(name text, why text default null, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._set_pause('workflow', name, true, why, pawl._by(by));
end
$$;
comment on function pawl.pause_workflow(text, text, text) is
'Pauses a workflow: triggers are accepted, nothing of it is claimed, what is in flight finishes. Answers ok or already.
If repeated: answers already.
Locks: none that last.
Errors: PW001 no such workflow, PW008 isolation level, PW007 the role is bound to one tenant.
Limits: the cost is constant.';

create or replace function pawl.resume_workflow(name text, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._set_pause('workflow', name, false, null, pawl._by(by));
end
$$;
comment on function pawl.resume_workflow(text, text) is
'Lets a paused workflow be claimed again. Answers ok or already.
If repeated: answers already.
Locks: none that last.
Errors: PW001 no such workflow, PW008 isolation level, PW007 the role is bound to one tenant.
Limits: the cost is constant.';

create or replace function pawl.pause_queue(name text, why text default null, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._set_pause('queue', name, true, why, pawl._by(by));
end
$$;
comment on function pawl.pause_queue(text, text, text) is
'Pauses one queue: nothing of it is claimed, what is in flight finishes. Answers ok or already.
If repeated: answers already.
Locks: none that last.
Errors: PW001 no such queue, PW008 isolation level, PW007 the role is bound to one tenant.
Limits: the cost is constant.';

create or replace function pawl.resume_queue(name text, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._set_pause('queue', name, false, null, pawl._by(by));
end
$$;
comment on function pawl.resume_queue(text, text) is
'Lets a paused queue be claimed again. Answers ok or already.
If repeated: answers already.
Locks: none that last.
Errors: PW001 no such queue, PW008 isolation level, PW007 the role is bound to one tenant.
Limits: the cost is constant.';

create or replace function pawl.drain_worker(session bigint, by text default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_done int;
begin
    perform pawl._only_read_committed('drain_worker');
    perform pawl._only_unbound('drain_worker');
    -- guard:drain_idle
    update pawl_data.worker w set draining = true, idle = false, listens = false where w.session_id = session and w.ended_at is null and not w.draining;
    get diagnostics v_done = row_count;
    if v_done = 0 then
        if not exists (select from pawl_data.worker w where w.session_id = session and w.ended_at is null) then
            perform pawl._raise('PW001', format('session %s not found', session));
        end if;
        return 'already';
    end if;
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'drain_worker', pawl._by(by), json_build_object('session', session));
    perform pawl._hint(session, 'drain');
    return 'ok';
end
$$;
comment on function pawl.drain_worker(bigint, text) is
'Asks a worker to finish what it holds and to leave: it is given nothing more, and its next heartbeat tells it. Answers ok or already.
If repeated: answers already.
Locks: the row of the session.
Errors: PW001 no such session, PW008 isolation level, PW007 the role is bound to one tenant.
Limits: the cost is constant.';

create or replace function pawl.epoch()
returns int
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._epoch();
end
$$;
comment on function pawl.epoch() is
'The epoch in force. A client that has seen a higher one must not work with this server: it has lost commits, and no operator has called raise_epoch() there yet.
If repeated: returns the same.
Locks: none.
Errors: none.
Limits: the cost is constant.';

create or replace function pawl.raise_epoch(why text, by text default null)
returns int
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
declare
    v_epoch int;
begin
    perform pawl._only_read_committed('raise_epoch');
    perform pawl._only_unbound('raise_epoch');
    -- 1. A writes with a token of the old epoch. 2. This call waits for A, and no new write starts before it has committed. 3. After it
    -- returns, no token of an older epoch is accepted. Without the lock A could commit afterwards. The call waits two seconds at most,
    -- because all other writes wait as long.
    -- guard:raise_lock
    lock table pawl_data.task in exclusive mode;
    update pawl_data.setting s set epoch = s.epoch + 1 where s.only_row returning s.epoch into v_epoch;
    -- A transaction above read committed whose snapshot is older fails when it locks this row.
    update pawl_data.epoch_lock e set epoch = v_epoch where e.only_row;
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'raise_epoch', pawl._by(by), json_build_object('epoch', v_epoch, 'why', why));
    return v_epoch;
end
$$;
comment on function pawl.raise_epoch(text, text) is
'Raises the epoch: to be called after a failover that may have lost commits, or after a restore. Sessions and tokens of older epochs are refused from then on; their tasks are swept and done again. Returns the new epoch.
If repeated: raises the epoch again.
Locks: the table of tasks, until the caller commits: it waits for writes in progress, and later writes wait for it.
Errors: PW008 isolation level, PW007 the role is bound to one tenant; 55P03 a write was in progress for more than two seconds, and nothing has changed: call it again.
Limits: the cost is constant.';

create or replace function pawl.set_retention(run_retention interval default null, event_retention interval default null, by text default null)
returns table (runs interval, events interval)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed('set_retention');
    perform pawl._only_unbound('set_retention');
    if run_retention < interval '1 hour' or event_retention < interval '1 hour' then
        -- guard:retention_min
        perform pawl._raise('PW003', 'retention must be at least one hour');
    end if;
    if run_retention > interval '1000 years' or event_retention > interval '1000 years' then
        -- guard:retention_max
        perform pawl._raise('PW003', 'retention must be at most 1000 years');
    end if;
    if run_retention is not null or event_retention is not null then
        update pawl_data.setting s
        set retention = coalesce(run_retention, s.retention),
            event_retention = coalesce(set_retention.event_retention, s.event_retention)
        where s.only_row;
        insert into pawl_data.action (at, what, who, detail)
        values (pawl.now(), 'set_retention', pawl._by(by),
                json_build_object('runs', run_retention, 'events', event_retention));
    end if;
    return query select s.retention, s.event_retention from pawl_data.setting s where s.only_row;
end
$$;
comment on function pawl.set_retention(interval, interval, text) is
'Sets how long ended runs (counted from their end) and events are kept, and returns what is in force; without arguments only returns it.
If repeated: does the same again.
Locks: the row of settings.
Errors: PW003 less than one hour or more than 1000 years, PW008 isolation level, PW007 the role is bound to one tenant.
Limits: the cost is constant.';

create or replace function pawl.set_session_limit(sessions int default null, by text default null)
returns int
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed('set_session_limit');
    perform pawl._only_unbound('set_session_limit');
    if sessions not between 1 and 1000000 then
        -- guard:session_limit_range
        perform pawl._raise('PW003', format('session limit must be between 1 and 1000000, and is %s', sessions));
    end if;
    if sessions is not null then
        update pawl_data.setting s set session_max = sessions where s.only_row;
        insert into pawl_data.action (at, what, who, detail)
        values (pawl.now(), 'set_session_limit', pawl._by(by), json_build_object('sessions', sessions));
    end if;
    return (select s.session_max from pawl_data.setting s where s.only_row);
end
$$;
comment on function pawl.set_session_limit(int, text) is
'Sets how many worker sessions the roles that are bound to one tenant may have at a time, 1,000 at first, and returns the limit in force; without arguments only returns it. Roles that are not bound to a tenant have no limit. A lower limit ends no session.
If repeated: does the same again.
Locks: the row of settings.
Errors: PW003 less than 1 or more than 1,000,000, PW007 the role is bound to one tenant, PW008 isolation level.
Limits: the cost is constant.';

create or replace function pawl.list_actions(after bigint default 0, max_rows int default 100)
returns table (action_no bigint, at timestamptz, what text, who text, detail json)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    perform pawl._only_unbound('list_actions');
    return query
    select a.action_no, a.at, a.what, a.who, a.detail
    from pawl_data.action a where a.action_no > after order by a.action_no limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_actions(bigint, int) is
'Operator actions on workflows, queues, workers and the database, in order. after is the last action_no already seen.
If repeated: returns the same, or what has been added since.
Locks: none.
Errors: PW007 the role is bound to one tenant.
Limits: 1,000 rows.';
