-- SPDX-License-Identifier: Apache-2.0
-- Fork: a new run from the records of another one.

create or replace function pawl.fork(run uuid, from_step text default null, input json default null, by text default null)
returns table (run_id uuid, answer text, copied int)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl._write_time();
    v_bound text := pawl._bound_tenant(null);
    v_task pawl_data.task;
    v_run pawl_data.run;
    v_workflow pawl_data.workflow;
    v_input json;
    v_seq int;
begin
    perform pawl._check_ids('fork', array[run]);
    copied := 0;
    -- An ended source is locked, so that no other transaction purges it while its records are copied.
    if not exists (select from pawl_data.task t where t.run_id = run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound))
       -- guard:fork_lock
       and not pawl._hold_ended(run, v_bound) then
        answer := 'busy';
        return next;
        return;
    end if;
    select t.* into v_task from pawl_data.task t where t.run_id = run and t.task_no = 0 and (v_bound is null or t.tenant = v_bound);
    v_run := pawl._last_run(run);
    if v_task.run_id is null and (v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant)) then
        answer := 'not_found';
        return next;
        return;
    end if;
    -- guard:fork_state
    if v_task.run_id is not null
       and (v_task.place = 'o' and pawl._flow_moves(run) or v_task.place <> 'o' and (v_task.place <> 'w' or v_task.due_at <= v_now)) then
        answer := 'refused';
        return next;
        return;
    end if;
    select w.* into v_workflow
    from pawl_data.queue q join pawl_data.workflow w on w.workflow_id = q.workflow_id
    where q.queue_id = coalesce(v_task.queue_id, v_run.queue_id);
    -- The input of such a run is a command, which a role that is bound to a tenant must not choose.
    -- guard:crontab_fork
    if input is not null and v_bound is not null and starts_with(v_workflow.name, 'crontab.') then
        answer := 'refused';
        return next;
        return;
    end if;
    if from_step is not null and v_workflow.flow then
        select s.step_no into v_seq
        from pawl_data.flow_step s where s.workflow_id = v_workflow.workflow_id and s.name = from_step and s.step_no > 0;
    elsif from_step is not null then
        select min(s.seq) into v_seq
        from (
            select p.name, p.seq from pawl._steps(array[run]) p
            union all
            select w.name, w.seq from pawl_data.wait w where w.run_id = run and w.kind <> 'l'
        ) s
        where s.name = from_step or starts_with(s.name, from_step || '#');
    end if;
    if from_step is not null and v_seq is null then
        answer := 'no_such_step';
        return next;
        return;
    end if;
    v_input := coalesce(input, pawl._input_of(run), v_task.input,
        (select r.input from pawl._runs(array[run]) r where r.round = 1));
    perform pawl._check_payload(v_input::text);
    run_id := pawl._id_make(v_now, pawl._id_slot(run));
    perform pawl._need_partitions(array[run_id], array['step']);
    perform pawl._insert_run(v_now, v_workflow.queue_id, v_workflow.run_timeout, v_workflow.expires, null, run_id, false, v_input,
        coalesce(v_task.tenant, v_run.tenant), coalesce(v_task.priority, v_run.priority), null,
        coalesce(v_task.metadata, v_run.metadata), null, coalesce(v_task.limit_key, v_run.limit_key), null, null, null, false);
    if pawl._tags_of(run) is not null then
        perform pawl._add_tags(array[run_id], coalesce(v_task.tenant, v_run.tenant), pawl._tags_of(run));
    end if;
    if v_workflow.flow then
        copied := pawl._fork_flow(run, run_id, v_workflow.workflow_id, from_step, v_now);
    else
        insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output,
                               undo, source_id)
        select fork.run_id, s.task_no, 1, 's', s.kind, s.seq, s.attempt, 0, s.started_at, s.ended_at, s.name, s.output, s.undo, run
        from pawl._steps(array[run]) s
        where s.state = 's' and s.name not like 'rollback:%' and v_seq is not null and s.seq < v_seq;
        get diagnostics copied = row_count;
        update pawl_data.task t set recorded = true where t.run_id = fork.run_id;
    end if;
    perform pawl._audit(run_id, 0, false, v_now, 'forked_from', json_build_object('run', run, 'from_step', from_step),
        pawl._by(by));
    perform pawl._audit(run, 0, coalesce(v_task.kept, exists (select from pawl_data.run_kept k where k.run_id = run)), v_now,
        'forked_to', json_build_object('run', run_id, 'from_step', from_step), pawl._by(by));
    -- 1. A forks a run that is paused, whose row it does not lock. 2. B cancels that run and purges it. 3. A copies what is left of its
    -- records. Here A sees that the run is gone, and takes everything back.
    -- guard:fork_purged
    if not pawl._lives(run) and not exists (select from pawl._runs(array[run])) then
        perform pawl._raise('PW010', format('run %s was purged during the call', run), 'Retry the call.');
    end if;
    perform pawl._wake_one(v_workflow.queue_id, coalesce(v_task.tenant, v_run.tenant), v_now);
    answer := 'ok';
    return next;
end
$$;
comment on function pawl.fork(uuid, text, json, text) is
'Makes a new run from an ended or paused one. With from_step, the SUCCESS records of steps that started before it are copied, marked with their source and never undone by the fork; without, it starts from the beginning. Metadata and tags are carried over, the key is not. Answers ok with the new run, refused (the source runs or is queued), no_such_step, busy, not_found.
If repeated: makes another run.
Locks: the row of a source that has ended, if another transaction does not have it.
Errors: PW008 isolation level, PW009 payload over a limit, PW010 the source was purged during the call.
Limits: the steps of the run.';

-- Whether a task of a run of a flow is held or could be claimed.
create or replace function pawl._flow_moves(p_run uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl_data.task t where t.run_id = p_run and t.task_no > 0
                   -- guard:fork_flow_due
                   and (t.place <> 'w' or t.due_at <= pawl.now()));
end
$$;
comment on function pawl._flow_moves(uuid) is 'whether a run of a flow is running or queued';

-- Makes the new run of a flow with the records of every task that is not downstream of a step.
create or replace function pawl._fork_flow(p_from uuid, p_run uuid, p_workflow int, p_step text, p_now timestamptz)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_again int[];
    v_copied int;
begin
    update pawl_data.task t
    set place = 'o', recorded = true, undo = exists (
            select from pawl_data.flow_step s where s.workflow_id = p_workflow and s.undo is not null)
    where t.run_id = p_run and t.task_no = 0;
    with recursive again (step_no) as (
        select s.step_no from pawl_data.flow_step s
        where s.workflow_id = p_workflow and s.step_no > 0 and (p_step is null or s.name = p_step)
        union
        select e.dependent_no from again a
        join pawl_data.flow_edge e on e.workflow_id = p_workflow and e.step_no = a.step_no
    )
    select array_agg(a.step_no) into v_again from again a;
    insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output,
                           error, source_id)
    -- Without their undos: the fork did none of it.
    select p_run, s.task_no, 1, s.state, s.kind, s.seq, s.attempt, 0, s.started_at, s.ended_at, s.name, s.output, s.error, p_from
    from pawl._steps(array[p_from]) s
    where s.state in ('s', 'k') and s.task_no > 0 and strpos(s.name, '#') = 0 and pawl._step_of(s.task_no) <> all (v_again);
    get diagnostics v_copied = row_count;
    perform pawl._reopen_flow(p_run, p_workflow, p_now);
    return v_copied;
end
$$;
comment on function pawl._fork_flow(uuid, uuid, int, text, timestamptz) is 'fills the fork of a run of a flow';

