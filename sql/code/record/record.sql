-- SPDX-License-Identifier: Apache-2.0
-- Reading and writing the records of one run: its steps, wherever they live, its input, its trail.

-- Planned again at each call, so that only the partitions of these runs are opened and locked.
create or replace function pawl._steps(p_ids uuid[])
returns setof pawl_data.step
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    select s.* from pawl_data.step s where s.run_id = any (p_ids)
    union all
    select k.* from pawl_data.step_kept k where k.run_id = any (p_ids);
end
$$;
comment on function pawl._steps(uuid[]) is 'the recorded steps of runs, wherever they live';

-- The same for some tasks of the runs only; p_tasks null: for all. By the number of each task: with = any (p_tasks) the planner may read the records
-- of all tasks, and filter them, if its statistics are of another run.
create or replace function pawl._steps_of(p_ids uuid[], p_tasks int[])
returns setof pawl_data.step
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    if p_tasks is null then
        return query select s.* from pawl._steps(p_ids) s;
        return;
    end if;
    return query
    select s.*
    from (select distinct t.task_no from unnest(p_tasks) t (task_no)) t
    cross join lateral (select s.* from pawl_data.step s where s.run_id = any (p_ids) and s.task_no = t.task_no offset 0) s
    union all
    select k.*
    from (select distinct t.task_no from unnest(p_tasks) t (task_no)) t
    cross join lateral (select k.* from pawl_data.step_kept k where k.run_id = any (p_ids) and k.task_no = t.task_no offset 0) k;
end
$$;
comment on function pawl._steps_of(uuid[], int[]) is 'the recorded steps of some tasks of runs, wherever they live';

create or replace function pawl._step(p_id uuid, p_task int, p_name text)
returns setof pawl_data.step
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    select s.* from pawl_data.step s where s.run_id = p_id and s.task_no = p_task and s.name = p_name
    union all
    select k.* from pawl_data.step_kept k where k.run_id = p_id and k.task_no = p_task and k.name = p_name;
end
$$;
comment on function pawl._step(uuid, int, text) is 'the records of one step, one for each round it ended in';

-- Which of these steps, by their place in the lists, have a record. None of the runs is kept apart. Between the first and the last id, so that
-- only the days of these runs are opened.
create or replace function pawl._recorded_places(p_ids uuid[], p_tasks int[], p_names text[])
returns setof bigint
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set enable_hashjoin to off
set enable_mergejoin to off
set jit to off
as $$
declare
    v_first uuid := (select i from unnest(p_ids) i order by i limit 1);
    v_last uuid := (select i from unnest(p_ids) i order by i desc limit 1);
begin
    return query
    select i.n
    from unnest(p_ids, p_tasks, p_names) with ordinality i (run_id, task_no, name, n)
    where exists (
        select from pawl_data.step s
        where s.run_id between v_first and v_last and s.run_id = i.run_id and s.task_no = i.task_no and s.name = i.name);
end
$$;
comment on function pawl._recorded_places(uuid[], int[], text[]) is 'which of these steps have a record';

create or replace function pawl._runs(p_ids uuid[])
returns setof pawl_data.run
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return query
    select r.* from pawl_data.run r where r.run_id = any (p_ids)
    union all
    select k.* from pawl_data.run_kept k where k.run_id = any (p_ids);
end
$$;
comment on function pawl._runs(uuid[]) is 'ended rounds of runs, wherever they live';

create or replace function pawl._last_run(p_id uuid)
returns pawl_data.run
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_run pawl_data.run;
begin
    select r.* into v_run from pawl._runs(array[p_id]) r order by r.round desc limit 1;
    return v_run;
end
$$;
comment on function pawl._last_run(uuid) is 'the last ended round of a run';

create or replace function pawl._input_of(p_id uuid)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set plan_cache_mode to force_custom_plan
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return coalesce(
        (select i.input from pawl_data.input i where i.run_id = p_id),
        (select k.input from pawl_data.input_kept k where k.run_id = p_id));
end
$$;
comment on function pawl._input_of(uuid) is 'a large input, from where it was written once';

-- How much a run may have recorded and still be claimed; more could not be returned in one value.
create or replace function pawl._record_max()
returns bigint
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return 268435456;
end
$$;
comment on function pawl._record_max() is 'bytes that one run may have recorded';

-- Loads the records that a replay needs: SUCCESS records of every round, final failures of the current round, and steps that started with
-- an undo. Also open waits, failed attempts and, while rolling back, the undos still to do. Loads p_max bytes in all, but at least one
-- record. Tasks over that limit are in left_out. Tasks whose record is more than _record_max() are in too_large. Both name tasks by run and
-- number.
create or replace function pawl._load_records(
    p_ids uuid[], p_tasks int[], p_max bigint, out records json[], out left_out text[], out too_large text[])
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
-- The planner cannot guess how many steps there are; hashing suits both few and many.
set enable_nestloop to off
set jit to off
as $$
declare
    v_max bigint := pawl._record_max();
    v_rolling uuid[] := array(
        select t.run_id from pawl_data.task t where t.run_id = any (p_ids) and t.task_no = 0 and t.rolling_back);
begin
    with step as materialized (
        select s.*,
               -- The stored size where that is the full size: without compression the value need not be read for it.
               120 + length(s.name)
               + coalesce(case when pg_column_compression(s.output) is null then pg_column_size(s.output)
                               else octet_length(s.output::text) end, 0)
               + coalesce(case when pg_column_compression(s.error) is null then pg_column_size(s.error)
                               else octet_length(s.error::text) end, 0)
               + coalesce(octet_length(s.undo::text), 0) as bytes
        from pawl._steps_of(p_ids, array(select distinct i from unnest(p_tasks) i)) s
    ), undo as materialized (
        select u.*, 120 + length(u.name) + coalesce(octet_length(u.output::text), 0) + octet_length(u.undo::text) as bytes
        from pawl._undos(v_rolling) u
        where cardinality(v_rolling) > 0
    ), size as materialized (
        select s.run_id, s.task_no, sum(s.bytes)::bigint as bytes
        from (
            select s.run_id, s.task_no, s.bytes from step s
            union all
            -- Outputs of a flow's tasks are only among its undos.
            -- guard:rollback_size
            select u.run_id, 0, u.bytes from undo u where u.task_no > 0
        ) s
        group by s.run_id, s.task_no
    ), task as materialized (
        select i.n, t.run_id, t.task_no, t.round, t.rolling_back, t.retries, coalesce(z.bytes, 0) <= v_max as small,
               -- In a rollback outputs are among the undos as well.
               coalesce(z.bytes, 0) * (1 + t.rolling_back::int) + coalesce(octet_length(t.retries::text), 0) as bytes
        from unnest(p_ids, p_tasks) with ordinality i (run_id, task_no, n)
        join (select t.* from pawl_data.task t where t.run_id = any (p_ids)) t on t.run_id = i.run_id and t.task_no = i.task_no
        left join size z on z.run_id = t.run_id and z.task_no = t.task_no
    ), fit as materialized (
        select t.*,
               coalesce(sum(t.bytes) filter (where t.small)
                            over (order by t.n rows between unbounded preceding and 1 preceding), 0) as before
        from task t
    ), chosen as materialized (
        select f.* from fit f where f.small and (f.before = 0 or f.before + f.bytes <= p_max)
    ), done as materialized (
        select c.n, json_agg(json_build_object('name', s.name, 'kind', pawl._kind_name(s.kind),
                                               'state', pawl._state_name(s.state), 'seq', s.seq, 'output', s.output,
                                               'error', s.error) order by s.seq, s.name) as steps
        from chosen c
        join step s on s.run_id = c.run_id and s.task_no = c.task_no and (s.state <> 'e' or s.round = c.round)
                   -- The record of a flow's task itself, even of a lost one, is not a step of its handler.
                   -- guard:records_own_steps
                   and (s.task_no = 0 or strpos(s.name, '#') > 0)
        group by c.n
    )
    select array_agg(r.record order by f.n),
           array_agg(f.run_id || ' ' || f.task_no) filter (where f.small and r.record is null),
           array_agg(f.run_id || ' ' || f.task_no) filter (where not f.small)
    into records, left_out, too_large
    from fit f
    left join (
        select c.n, json_build_object(
            'steps', coalesce(d.steps, '[]'),
            'waits', coalesce((
                select json_agg(json_build_object('name', w.name, 'kind', pawl._kind_name(w.kind), 'seq', w.seq,
                                                  'child', w.child_id) order by w.seq, w.name)
                from pawl_data.wait w
                where w.run_id = c.run_id and w.task_no = c.task_no and w.kind <> 'l'), '[]'),
            'retries', coalesce(c.retries, '{}'),
            'undos', case when c.rolling_back then (
                select coalesce(json_agg(json_build_object('name', u.name, 'undo', u.undo, 'output', u.output,
                                                           'uncertain', u.uncertain) order by u.place), '[]')
                from undo u
                where u.run_id = c.run_id) end) as record
        from chosen c
        left join done d on d.n = c.n
    ) r on r.n = f.n;
end
$$;
comment on function pawl._load_records(uuid[], int[], bigint) is 'what each of these tasks has recorded, as JSON for its worker';

create or replace function pawl._write_step(p_step pawl_data.step, p_kept boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_kept then
        insert into pawl_data.step_kept select p_step.*;
    else
        insert into pawl_data.step select p_step.*;
    end if;
end
$$;
comment on function pawl._write_step(pawl_data.step, boolean) is 'writes a record where those of its run live';

-- Writes one record. False if this step has a record already that counts in this round.
create or replace function pawl._record(
    p_task pawl_data.task, p_name text, p_kind "char", p_state "char", p_seq int, p_output json, p_error json, p_now timestamptz,
    p_millis bigint default 0, p_attempt int default 1, p_undo json default null, p_source uuid default null)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_made int;
begin
    -- In the first round a step has at most one record, and its key tells: no search, which would be planned at each call.
    if p_task.round = 1 and not p_task.kept then
        insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output, error, undo,
                                    source_id)
        values (p_task.run_id, p_task.task_no, 1, p_state, p_kind, coalesce(p_seq, pawl._next_seq(p_task)), p_attempt, p_task.fence,
                p_now - coalesce(p_millis, 0) * interval '1 ms', case when p_state <> 'r' then p_now end, p_name, p_output, p_error, p_undo,
                p_source)
        on conflict do nothing;
        get diagnostics v_made = row_count;
        return v_made = 1;
    end if;
    -- guard:record_once
    if exists (
        select from pawl._step(p_task.run_id, p_task.task_no, p_name) s
        where s.state in ('s', 'r', 'k') or s.round = p_task.round) then
        return false;
    end if;
    perform pawl._write_step(row(p_task.run_id, p_task.task_no, p_task.round, p_state, p_kind,
        coalesce(p_seq, pawl._next_seq(p_task)), p_attempt, p_task.fence, p_now - coalesce(p_millis, 0) * interval '1 ms',
        case when p_state <> 'r' then p_now end, p_name, p_output, p_error, p_undo, p_source)::pawl_data.step, p_task.kept);
    return true;
end
$$;
comment on function pawl._record(pawl_data.task, text, "char", "char", int, json, json, timestamptz, bigint, int, json, uuid) is 'records the result of a step, unless it is recorded';

-- For callers that do not count: the worker library numbers its steps itself.
create or replace function pawl._next_seq(p_task pawl_data.task)
returns int
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_seq int := 1 + greatest(
        (select coalesce(max(s.seq), 0) from pawl._steps_of(array[p_task.run_id], array[p_task.task_no]) s),
        (select coalesce(max(w.seq), 0) from pawl_data.wait w where w.run_id = p_task.run_id and w.task_no = p_task.task_no));
begin
    if v_seq > 100000 and not p_task.rolling_back then
        -- commit_each refuses the item for it.
        raise exception using errcode = 'program_limit_exceeded',
            message = 'a run records at most 100000 steps: let it end, and go on in a new run';
    end if;
    return v_seq;
end
$$;
comment on function pawl._next_seq(pawl_data.task) is 'the next number in the order of first starts';

-- Returns whether the records of a run are in the kept tables by now: its end, in this transaction, may have moved them.
create or replace function pawl._is_kept(p_task pawl_data.task)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_task.kept or exists (select from pawl_data.run_kept k where k.run_id = p_task.run_id);
end
$$;
comment on function pawl._is_kept(pawl_data.task) is 'whether records of a run have outlived their day';

create or replace function pawl._audit(
    p_id uuid, p_task int, p_kept boolean, p_now timestamptz, p_what text, p_detail json default null, p_who text default null)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_kept then
        insert into pawl_data.audit_kept (run_id, audit_no, task_no, at, what, who, detail)
        values (p_id, nextval('pawl_data.trail_no'), p_task, p_now, p_what, p_who, p_detail);
    else
        perform pawl._need_partitions(array[p_id], array['audit']);
        insert into pawl_data.audit (run_id, audit_no, task_no, at, what, who, detail)
        values (p_id, nextval('pawl_data.trail_no'), p_task, p_now, p_what, p_who, p_detail);
    end if;
end
$$;
comment on function pawl._audit(uuid, int, boolean, timestamptz, text, json, text) is 'notes something unusual in the life of a run';

-- A limit that a worker enforces itself, in milliseconds; null means none.
create or replace function pawl._run_timeout(p_id uuid, p_now timestamptz)
returns bigint
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (
        select greatest((1000 * date_part('epoch', w.due_at - p_now))::bigint, 0)
        from pawl_data.wait w where w.run_id = p_id and w.task_no = 0 and w.name = 'timeout');
end
$$;
comment on function pawl._run_timeout(uuid, timestamptz) is 'how much time a run has left';

-- Returns steps whose undo has neither run nor been skipped, in the order of their rollback: the newest first. In a flow the order is by
-- task, with the steps inside a task ahead of the task itself. Copied steps of a fork are never undone.
create or replace function pawl._undos(p_runs uuid[])
returns table (run_id uuid, place bigint, name text, task_no int, undo json, output json, uncertain boolean)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
-- The planner cannot guess how many undos there are; hashing suits both few and many.
set enable_nestloop to off
as $$
#variable_conflict use_column
begin
    return query
    with step as materialized (
        select s.*, pawl._undo_name(t.queue_id, s.name, s.task_no) as undo_name
        from pawl._steps(p_runs) s
        join (select t.run_id, t.queue_id from pawl_data.task t where t.run_id = any (p_runs) and t.task_no = 0) t on t.run_id = s.run_id
        -- guard:rollback_sees_all
        where s.task_no = 0 or s.undo is not null
    )
    select s.run_id,
           row_number() over (partition by s.run_id order by s.task_no desc, strpos(s.name, '#') > 0 desc, s.seq desc, s.name desc),
           s.undo_name, s.task_no, s.undo, s.output, s.state <> 's'
    from step s
    where s.undo is not null and (s.source_id is null or s.kind = 'c')
      and not exists (
          select from step n
          where n.run_id = s.run_id and n.task_no = s.task_no and n.name = s.name and n.round > s.round and n.undo is not null)
      and not exists (
          select from step d
          where d.run_id = s.run_id and d.task_no = 0 and d.name = 'rollback:' || s.undo_name and d.state in ('s', 'k'));
end
$$;
comment on function pawl._undos(uuid[]) is 'what the rollbacks of these runs have to execute';

create or replace function pawl._undone(p_task pawl_data.task)
returns json
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return (select coalesce(json_agg(u.name order by u.place), '[]') from pawl._undos(array[p_task.run_id]) u);
end
$$;
comment on function pawl._undone(pawl_data.task) is 'names of steps that are not undone yet';

create or replace function pawl._was_undone(p_run uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl._steps(array[p_run]) s where s.name like 'rollback:%' and s.state = 's');
end
$$;
comment on function pawl._was_undone(uuid) is 'whether an undo of this run was executed, so that it cannot go on';

-- Asked row by row from a bounded piece. As a join, the planner might read the whole of a table that it believes to be small.
create or replace function pawl._lives(p_id uuid)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl_data.task t where t.run_id = p_id);
end
$$;
comment on function pawl._lives(uuid) is 'whether a run has not ended, or lives again';
