-- SPDX-License-Identifier: Apache-2.0
-- Purge: deletes ended runs with their history.

create or replace function pawl._purge_runs(p_runs uuid[], p_why text, p_by text)
returns table (run_id uuid, answer text)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    -- Locked in the order of the ids, answered in the order given.
    v_answers text[] := array[]::text[];
    v_n bigint;
    v_now timestamptz := pawl.now();
    v_bound text := pawl._bound_tenant(null);
    v_run pawl_data.run;
    v_lives boolean;
begin
    for run_id, v_n in select u.r, u.n from unnest(p_runs) with ordinality u (r, n) order by u.r, u.n loop
        -- Looked at before the lock as well, as by retry.
        v_lives := exists (select from pawl_data.task t where t.run_id = _purge_runs.run_id and (v_bound is null or t.tenant = v_bound));
        v_run := pawl._last_run(run_id);
        -- guard:purge_lock
        if not v_lives and not pawl._hold_ended(run_id, v_bound) then
            answer := 'busy';
        elsif v_lives or exists (select from pawl_data.task t where t.run_id = _purge_runs.run_id and (v_bound is null or t.tenant = v_bound)) then
            -- guard:purge_ended
            answer := 'refused';
        elsif v_run.run_id is null or v_run.tenant <> coalesce(v_bound, v_run.tenant) then
            answer := 'not_found';
        else
            perform pawl._purge_run(run_id, v_run);
            insert into pawl_data.action (at, what, who, detail)
            values (v_now, 'purge', p_by, json_build_object('run', run_id, 'why', p_why));
            answer := 'ok';
        end if;
        v_answers[v_n] := answer;
    end loop;
    return query select u.r, u.a from unnest(p_runs, v_answers) u (r, a);
end
$$;
comment on function pawl._purge_runs(uuid[], text, text) is 'purge, of callers whose right was checked';

create or replace function pawl.purge(runs uuid[], why text default null, by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._check_ids('purge', runs);
    return query select a.* from pawl._purge_runs(runs, why, pawl._by(by)) a;
end
$$;
comment on function pawl.purge(uuid[], text, text) is
'Deletes ended runs with all that was recorded of them, and frees their keys. Audited. Answers ok, refused (it has not ended), busy, not_found.
If repeated: answers not_found.
Locks: the rows of each run, if another transaction does not have them.
Errors: PW008 isolation level, PW009 more than 1,000 ids.
Limits: 1,000 runs.';

create or replace function pawl._purge_run(p_id uuid, p_run pawl_data.run)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    delete from pawl_data.step s where s.run_id = p_id;
    delete from pawl_data.step_kept s where s.run_id = p_id;
    delete from pawl_data.audit a where a.run_id = p_id;
    delete from pawl_data.audit_kept a where a.run_id = p_id;
    delete from pawl_data.note n where n.run_id = p_id;
    delete from pawl_data.note_kept n where n.run_id = p_id;
    delete from pawl_data.input i where i.run_id = p_id;
    delete from pawl_data.input_kept i where i.run_id = p_id;
    delete from pawl_data.tag g where g.run_id = p_id;
    delete from pawl_data.tag_kept g where g.run_id = p_id;
    perform pawl._free_place(p_id);
    delete from pawl_data.run r where r.run_id = p_id;
    delete from pawl_data.run_kept r where r.run_id = p_id;
    delete from pawl_data.key k
    using pawl_data.queue q
    where q.queue_id = p_run.queue_id and k.tenant = p_run.tenant and k.workflow_id = q.workflow_id and k.key = p_run.key
      and k.run_id = p_id;
end
$$;
comment on function pawl._purge_run(uuid, pawl_data.run) is 'deletes every row of an ended run';
