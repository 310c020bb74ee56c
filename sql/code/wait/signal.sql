-- SPDX-License-Identifier: Apache-2.0
-- Signals and approvals: one run, one name, in the order of arrival.

-- Changes the row of the run's task 0, so that the caller holds its lock until the end of the transaction.
create or replace function pawl._reach_run(p_run uuid, p_verb text)
returns pawl_data.task
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_task pawl_data.task;
    v_bound text := pawl._bound_tenant(p_verb);
begin
    -- guard:signal_update
    update pawl_data.task t
    set attached = true
    where t.run_id = p_run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound)
    returning t.* into v_task;
    if not found then
        if exists (select from pawl._runs(array[p_run]) r where v_bound is null or r.tenant = v_bound) then
            -- guard:signal_ended
            perform pawl._raise('PW007', format('run %s has ended', p_run));
        end if;
        perform pawl._raise('PW001', format('run %s not found', p_run));
    end if;
    return v_task;
end
$$;
comment on function pawl._reach_run(uuid, text) is 'locks a run that has not ended by changing its row';

create or replace function pawl._signal(p_run uuid, p_name text, p_payload json, p_decision boolean, p_verb text)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl._write_time();
    v_task pawl_data.task;
    v_wait pawl_data.wait;
begin
    if p_name is null or p_name !~ '^[a-z0-9_.-]{1,100}$' then
        -- guard:signal_name
        perform pawl._raise('PW003', format('bad signal name "%s"', p_name), 'Use 1 to 100 of a-z, 0-9, _, . and -.');
    end if;
    perform pawl._check_payload(p_payload::text);
    v_task := pawl._reach_run(p_run, p_verb);
    if v_task.ending is not null and not v_task.rolling_back then
        -- guard:signal_cancelled
        perform pawl._raise('PW006', format('run %s was cancelled', p_run));
    end if;
    loop
        -- A separate statement after the row was changed: it sees a wait that was opened before.
        select w.* into v_wait
        from pawl_data.wait w
        where w.run_id = p_run and w.kind = case when p_decision then 'a'::"char" else 'g' end and w.topic = p_name
        order by w.seq
        limit 1;
        exit when v_wait.run_id is null;
        -- A wait belongs to a task, whose row need not be the one that is locked. While this call waited for the task's row, the wait may
        -- have ended.
        select t.* into v_task from pawl_data.task t where t.run_id = p_run and t.task_no = v_wait.task_no for update;
        -- guard:signal_recheck
        exit when exists (
            select from pawl_data.wait w where w.run_id = p_run and w.task_no = v_wait.task_no and w.name = v_wait.name);
    end loop;
    if v_wait.run_id is not null and pawl._settle(v_task, v_wait, 's', p_payload, null, null, v_now) then
        return 'taken';
    end if;
    if (select count(*) from (select from pawl_data.signal g where g.run_id = p_run limit 1000) n) >= 1000 then
        -- guard:signals_max
        perform pawl._raise('PW009', format('run %s has 1000 signals that it has not taken', p_run));
    end if;
    insert into pawl_data.signal (run_id, name, sent_at, sent_by, payload)
    values (p_run, case when p_decision then 'approval:' else '' end || p_name, v_now, pawl._by(null), p_payload);
    return 'stored';
end
$$;
comment on function pawl._signal(uuid, text, json, boolean, text) is 'sends a signal, or a decision on an approval, to one run';

create or replace function pawl.signal(run uuid, name text, payload json default '{}')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return pawl._signal(run, name, payload, false, 'signal');
end
$$;
comment on function pawl.signal(uuid, text, json) is
'Sends a signal to one run, in the caller''s transaction. Answers taken (a wait of the run took it at once) or stored (kept for the run until it waits for it). Signals of one name are taken in order, each once.
If repeated: sends a second signal, which is stored for the next wait of that name. After an unknown outcome, check list_waits() or get_run() before repeating.
Locks: the row of the run.
Errors: PW001 no such run, PW003 bad name, PW006 the run was cancelled, PW007 the run has ended, PW009 over a limit; 40001 above read committed.
Limits: the cost is constant.';

create or replace function pawl.approve(run uuid, name text, by text default null, why text default null, payload json default '{}')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return pawl._decide(run, name, true, by, why, payload);
end
$$;
comment on function pawl.approve(uuid, text, text, text, json) is
'Approves an approval that the run waits for, by its name. The decider (by, else the login role) and the reason (why) are recorded with the step and in the audit log.
If repeated: the second decision is stored and silently answers the run''s next approval of that name. After an unknown outcome, check list_waits() before repeating.
Locks: the row of the run.
Errors: as signal; PW010 another transaction is making a partition that it needs: send it again.
Limits: the cost is constant.';

create or replace function pawl.reject(run uuid, name text, by text default null, why text default null, payload json default '{}')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return pawl._decide(run, name, false, by, why, payload);
end
$$;
comment on function pawl.reject(uuid, text, text, text, json) is
'Rejects an approval that the run waits for, by its name; otherwise as approve. The run continues and sees approved = false.
If repeated: the second decision is stored and silently answers the run''s next approval of that name. After an unknown outcome, check list_waits() before repeating.
Locks: the row of the run.
Errors: as signal; PW010 another transaction is making a partition that it needs: send it again.
Limits: the cost is constant.';

create or replace function pawl._decide(p_run uuid, p_name text, p_approved boolean, p_by text, p_why text, p_payload json)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl.now();
    v_detail json := json_build_object('approved', p_approved, 'by', pawl._by(p_by), 'why', p_why,
        'payload', p_payload);
    v_answer text;
begin
    v_answer := pawl._signal(p_run, p_name, v_detail, true, case when p_approved then 'approve' else 'reject' end);
    perform pawl._audit(p_run, 0, (select t.kept from pawl_data.task t where t.run_id = p_run and t.task_no = 0), v_now,
        case when p_approved then 'approved' else 'rejected' end, json_build_object('name', p_name, 'why', p_why),
        pawl._by(p_by));
    return v_answer;
end
$$;
comment on function pawl._decide(uuid, text, boolean, text, text, json) is 'sends a decision and audits it';
