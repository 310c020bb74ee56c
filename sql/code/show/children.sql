-- SPDX-License-Identifier: Apache-2.0
-- From a run down to the runs that it started.

create or replace function pawl.list_children(run uuid, cursor uuid default null, max_rows int default 100)
returns table (
    run_id uuid, step text, workflow text, status text, reason text, triggered_at timestamptz, started_at timestamptz,
    ended_at timestamptz, worker text)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl.now();
    v_source uuid;
    v_ids uuid[];
    v_steps text[];
begin
    -- 1. An operator misspells an id, or names a run of another tenant. Without this the answer would be an empty list, as of a run that
    -- started no other.
    -- guard:children_of_own
    if not exists (select from pawl._overview(array[run], v_now, 'list_children') o) then
        perform pawl._raise('PW001', format('run %s not found', run));
    end if;
    v_source := pawl._forked_from(run);
    -- There is no index by parent, and none is needed: the parent has a record or an open wait for each child.
    select array_agg(c.child), array_agg(c.step) into v_ids, v_steps
    from (
        select distinct on (u.child) u.child, case when u.task_no > 0 then pawl._shown_name(run, u.task_no, u.name) else u.name end as step
        from (
            select s.source_id as child, s.task_no, s.name
            from pawl._steps(array[run]) s
            where s.kind = 'c' and s.source_id is distinct from v_source
            union all
            select w.child_id, w.task_no, w.name from pawl_data.wait w where w.run_id = run and w.kind = 'c'
        ) u
        where cursor is null or u.child > cursor
        order by u.child
        limit least(greatest(max_rows, 0), 1000)
    ) c;
    return query
    select o.run_id, i.step, o.workflow, o.status, o.reason, o.triggered_at, o.started_at, o.ended_at, o.worker
    from unnest(v_ids, v_steps) i (child, step)
    join pawl._overview(v_ids, v_now, null) o on o.run_id = i.child
    order by o.run_id;
end
$$;
comment on function pawl.list_children(uuid, uuid, int) is
'Lists the runs that a run started, in the order in which it did, with the step that each is; detached ones as well. A child that is past its retention is not listed. Pass the last run as cursor to continue.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW001 no such run.
Limits: the steps of the run, 1,000 rows.';
