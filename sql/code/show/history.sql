-- SPDX-License-Identifier: Apache-2.0
-- History of one run: its rounds, steps, audit entries and notes, in the order of time.

create or replace function pawl.history(run uuid)
returns table (at timestamptz, what text, round int, who text, detail json)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
#variable_conflict use_column
declare
    v_over record;
    v_workflow int;
begin
    select o.* into v_over from pawl._overview(array[run], pawl.now(), 'history') o;
    if not found then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    v_workflow := (select w.workflow_id from pawl_data.workflow w where w.name = v_over.workflow);
    return query
    select h.at, h.what, h.round, h.who, h.detail
    from (
        select v_over.triggered_at as at, 'triggered' as what, 1 as round, null::text as who,
               json_build_object('workflow', v_over.workflow, 'key', v_over.key) as detail, 0::bigint as n
        union all
        select v_over.started_at, 'started', 1, pawl._started_by(run), null, 1 where v_over.started_at is not null
        union all
        -- A fork has copies of records that are older than itself: they are its own from its trigger on.
        select greatest(coalesce(s.ended_at, s.started_at), v_over.triggered_at), case s.state when 's' then 'step_succeeded' when 'e' then 'step_failed'
                   when 'r' then 'step_started' else 'step_skipped' end,
               s.round::int, null, json_build_object('step', case when s.task_no > 0 then pawl._task_label(f.name, s.task_no, s.name)
                                                                  else s.name end, 'kind', pawl._kind_name(s.kind), 'attempt', s.attempt),
               1000000 + s.seq::bigint
        from pawl._steps(array[run]) s
        left join pawl_data.flow_step f on f.workflow_id = v_workflow and f.step_no = pawl._step_of(s.task_no) and s.task_no > 0
        union all
        select a.at, a.what, null, a.who, a.detail, 2000000000 + a.audit_no
        from pawl._audits(run) a
        union all
        select r.ended_at, 'ended', r.round::int, pawl._ended_by(r),
               json_build_object('status', pawl._state_name(r.status), 'error', r.error),
               9000000000000000000
        from pawl._runs(array[run]) r
    ) h
    order by h.at, h.n
    limit 20000;
end
$$;
comment on function pawl.history(uuid) is
'Every transition of a run in order: derived from its records, together with what was unusual (failed tries, lost leases, cancel, pause, operator actions, late results). who is the operator, the worker, or pawl for the engine itself; null where it is not known.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW001 no such run.
Limits: 20,000 rows.';

-- The worker that executed a run first, as far as that is known: a later execution overwrites the session, and only a lost lease is noted.
create or replace function pawl._started_by(p_run uuid)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
begin
    return (
        select w.name
        from pawl_data.worker w
        where w.session_id = coalesce(
            (select t.session_id from pawl_data.task t where t.run_id = p_run and t.task_no = 0 and t.execution = 1 and t.started),
            (select r.session_id from pawl._runs(array[p_run]) r where r.round = 1 and r.execution = 1),
            (select (a.detail ->> 'session')::bigint from pawl._audits(p_run) a
             where a.what = 'lease_lost' and a.task_no = 0 and a.detail ->> 'fence' = '1')));
end
$$;
comment on function pawl._started_by(uuid) is 'the worker that executed a run first, if it is known';

-- Returns who ended a round: an operator, the engine (pawl), or the worker that held the run. A run of a flow has no such worker, because
-- several workers execute its tasks.
create or replace function pawl._ended_by(p_run pawl_data.run)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_run.status = 'c' and p_run.error ->> 'code' = 'expired' then
        return 'pawl';
    end if;
    if p_run.status = 'c' then
        return (
            select a.who from pawl._audits(p_run.run_id) a
            where a.what in ('cancel', 'kill') and a.at <= p_run.ended_at
            order by a.audit_no desc limit 1);
    end if;
    -- A handler may use these codes for errors of its own, which have other messages.
    if p_run.error ->> 'code' in ('timeout', 'crashed', 'record_too_large')
       and p_run.error ->> 'message' ~ '^(the run has reached its time limit|[0-9]+ workers lost their lease|the run has recorded)' then
        return 'pawl';
    end if;
    return (select w.name from pawl_data.worker w where w.session_id = p_run.session_id);
end
$$;
comment on function pawl._ended_by(pawl_data.run) is 'who ended a round of a run, if it is known';

create or replace function pawl._audits(p_run uuid)
returns setof pawl_data.audit
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
as $$
begin
    return query
    select a.* from pawl_data.audit a where a.run_id = p_run
    union all
    select k.* from pawl_data.audit_kept k where k.run_id = p_run;
end
$$;
comment on function pawl._audits(uuid) is 'the audit rows of a run, wherever they live';

create or replace function pawl.notes(run uuid, after bigint default 0, max_rows int default 1000)
returns table (note_no bigint, at timestamptz, kind text, name text, body text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if not exists (select from pawl._overview(array[run], pawl.now(), 'notes') o) then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    return query
    select n.note_no, n.at, n.kind, n.name, n.body
    from pawl._notes_after(run, after, null, least(greatest(max_rows, 0), 1000)) n
    order by n.note_no;
end
$$;
comment on function pawl.notes(uuid, bigint, int) is
'Logs, progress and small values kept with a run, in order. after is the last note_no already seen. Tasks of a flow store notes at the same time, so that a note may appear when one with a higher number has been read: read a flow that has not ended from 0 each time, or follow its tasks one by one. What steps stream is returned by follow().
If repeated: returns the same, or what has been added since.
Locks: none.
Errors: PW001 no such run.
Limits: 1,000 rows.';

-- Notes of one task, because only they are committed in the order of their numbers: each commit locks the row of its task first. 1. A takes
-- number 7 for task 1 and has not committed. 2. B stores number 8 for task 2. 3. A reader of both tasks sees 8 and continues after it. 4. A
-- commits, and the reader never sees 7.
create or replace function pawl.follow(run uuid, after bigint default 0, task int default 0, max_rows int default 1000)
returns table (
    note_no bigint, at timestamptz, kind text, name text, body text, fence int, seq int, begins boolean, status text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_status text := (select o.status from pawl._overview(array[run], pawl.now(), 'follow') o);
    v_max int := least(greatest(max_rows, 1), 1000);
    v_count int;
begin
    if v_status is null then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    return query
    select n.note_no, n.at, n.kind, n.name, n.body, n.fence, n.seq, n.begins, null::text
    from pawl._notes_after(run, coalesce(after, 0), coalesce(task, 0), v_max) n
    order by n.note_no;
    get diagnostics v_count = row_count;
    -- State and notes are of one snapshot, so an ended run has no notes that are not in these rows.
    -- guard:follow_all
    if v_count < v_max then
        status := v_status;
        return next;
    end if;
end
$$;
comment on function pawl.follow(uuid, bigint, int, int) is
'The notes of one task of a run after a number, in order: logs, progress, small values, and the pieces that its steps stream while they are executed. A coded run has task 0; the tasks of a flow are followed one by one. after is the last note_no already seen, 0 at the beginning. A piece (kind stream) has the name of its step, the fence of the claim that sent it, and its number in that claim, seq. begins is true for the first piece of each execution of a step: a reader that gets one forgets the earlier pieces of that step, because the step was interrupted or failed and is executed again. If these are all notes that there are now, the last row has no note_no and the status of the run, and nothing follows once that is SUCCESS, ERROR or CANCELLED. It does not wait: ask again at once after max_rows rows, otherwise at most once a second.
If repeated: returns the same, or what has been added since.
Locks: none.
Errors: PW001 no such run.
Limits: 1,000 rows.';
