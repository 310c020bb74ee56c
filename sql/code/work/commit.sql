-- SPDX-License-Identifier: Apache-2.0
-- Commit many: the one call through which a worker reports progress. Plain items of plain tasks go through one statement that locks, checks
-- and writes; other items are applied one by one (commit_item.sql).

create or replace function pawl._check_commit(p_count int, p_lengths int[])
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_count > 10000 then
        -- guard:commit_items_max
        perform pawl._raise('PW009', format('%s items in one call, the limit is 10000', p_count));
    end if;
    if p_count <> any (p_lengths) or p_count > 0 and array_position(p_lengths[:2], null) is not null then
        -- guard:commit_lengths
        perform pawl._raise('PW003', 'all lists of one commit must have the same length');
    end if;
end
$$;
comment on function pawl._check_commit(int, int[]) is 'refuses a commit whose lists do not fit together';

-- Raises if the set-wise statement has applied some items of a claim and not all, because the row was locked for part of the call. Their
-- order would be lost. This is rare; the worker sends the whole call again.
create or replace function pawl._check_whole(p_runs uuid[], p_tasks int[], p_fences int[], p_done bigint[])
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if exists (
        select from unnest(p_runs, p_tasks, p_fences) with ordinality i (run_id, task_no, fence, n)
        group by i.run_id, i.task_no, i.fence
        having count(*) > 1 and bool_or(i.n = any (p_done)) and not bool_and(i.n = any (p_done))) then
        perform pawl._raise('PW010', 'the items of one run could not be applied in order: its row was locked for part of the call; nothing was applied',
            'Resend the call with pawl.commit_each().');
    end if;
end
$$;
comment on function pawl._check_whole(uuid[], int[], int[], bigint[]) is 'refuses a call of which a run was taken in part';

-- Items of one run are applied in order: all of them in the set-wise statement of commit(), or all of them one by one. Returns the runs
-- whose items are not all plain, and locks the flows whose tasks the statement ends.
create or replace function pawl._runs_one_by_one(
    p_runs uuid[], p_tasks int[], p_kinds text[], p_names text[], p_payloads text[], p_seqs int[], p_options text[], p_payload_max int)
returns uuid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_open uuid[] := array[]::uuid[];
    v_mixed uuid[];
    v_names text;
    v_named boolean;
begin
    -- Test all names at once, because one regular expression over many names costs as much as over one. There must be one # for each name
    -- and one space fewer than names; otherwise a name contains one of them itself.
    v_names := array_to_string(p_names, ' ');
    v_named := v_names !~ '[^a-z0-9_./# -]|//|(^| )[/#]|/#|#(?![0-9]{1,9}( |$))'
               and length(v_names) - length(replace(v_names, '#', '')) = cardinality(array_remove(p_names, null))
               and length(v_names) - length(replace(v_names, ' ', '')) = cardinality(array_remove(p_names, null)) - 1;
    -- A step without a number (seq) gets the next one when its turn comes. So other items of its run must not be applied ahead of it.
    v_mixed := array(
        select i.run_id
        from unnest(p_runs, p_kinds, p_names, p_payloads, p_seqs, p_options) i (run_id, kind, name, payload, seq, option)
        where not coalesce(
            i.option is null
            and (i.kind = 'complete'
                 or i.kind = 'step' and i.seq <= 100000 and length(i.name) <= 100
                    -- guard:step_name
                    and (v_named or i.name ~ '^([a-z0-9_.-]+/)*[a-z0-9_.-]+#[0-9]{1,9}$'))
            -- guard:payload_max
            and octet_length(i.payload) <= p_payload_max
            and octet_length(i.payload) - octet_length(replace(replace(i.payload, '{', ''), '[', '')) <= 64, false));
    -- Steps need no order among themselves, but nothing is recorded after an end. If a complete precedes another item of its task, the run
    -- is applied one by one.
    if 'complete' = any (p_kinds) and not p_kinds <@ array['complete'] then
        v_mixed := v_mixed || array(
            select i.run_id
            from unnest(p_runs, p_tasks, p_kinds) with ordinality i (run_id, task_no, kind, n)
            group by i.run_id, coalesce(i.task_no, 0)
            having min(i.n) filter (where i.kind = 'complete') < max(i.n) filter (where i.kind <> 'complete'));
    end if;
    if 'complete' = any (p_kinds) and p_tasks is not null then
        v_open := array(
            select t.run_id
            from (
                select distinct i.run_id from unnest(p_runs, p_tasks, p_kinds) i (run_id, task_no, kind)
                where i.task_no > 0 and i.kind = 'complete' and i.run_id <> all (v_mixed)
            ) i
            cross join lateral (
                select t.run_id
                from pawl_data.task t
                where t.run_id = i.run_id and t.task_no = 0 and t.place = 'o'
                  and not (t.kept or t.ending is not null or t.paused is not null or t.parent_id is not null)
                -- guard:flow_commit_lock
                for update skip locked
            ) t);
        v_mixed := v_mixed || array(
            select i.run_id from unnest(p_runs, p_tasks, p_kinds) i (run_id, task_no, kind)
            where i.task_no > 0 and i.kind = 'complete' and i.run_id <> all (v_open));
    end if;
    return v_mixed;
end
$$;
comment on function pawl._runs_one_by_one(uuid[], int[], text[], text[], text[], int[], text[], int) is 'runs whose items are committed one by one; locks flows';

-- Ends plain runs. The caller has locked and checked their rows, so their addresses are good.
create or replace function pawl._end_plain(p_rows tid[], p_outputs text[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_ended int;
begin
    with gone as (
        delete from pawl_data.task t
        using unnest(p_rows, p_outputs) e (tid, output)
        where t.ctid = e.tid
        returning t.run_id, t.round, t.priority, t.queue_id, t.fence, t.execution, t.session_id, t.triggered_at,
                  t.started_at, t.input_apart, t.tenant, t.limit_key, t.key, t.input, t.metadata, e.output
    )
    insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, session_id, triggered_at,
                          started_at, ended_at, rolled_back, input_apart, tenant, limit_key, key, input, metadata, output)
    select g.run_id, g.round, 's', g.priority, g.queue_id, g.fence, g.execution, g.session_id, g.triggered_at,
           g.started_at, p_now, false, g.input_apart, g.tenant, g.limit_key, g.key,
           case when g.round = 1 then g.input end, g.metadata, g.output::json
    from gone g;
    get diagnostics v_ended = row_count;
    if v_ended < cardinality(p_rows) then
        -- guard:run_ends_once
        perform pawl._raise('PW010', 'a run ends twice in one call', 'Resend the call with pawl.commit_each().');
    end if;
end
$$;
comment on function pawl._end_plain(tid[], text[], timestamptz) is 'moves plain runs to history';

create or replace function pawl.commit(
    session bigint, runs uuid[], fences int[], kinds text[], names text[] default null, payloads text[] default null,
    seqs int[] default null, tasks int[] default null, millis int[] default null, options text[] default null)
returns table (item int, answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
-- Otherwise its large statements are planned at each call, which takes longer than to execute them.
set plan_cache_mode to force_generic_plan
as $$
#variable_conflict use_column
declare
    v_now timestamptz := pawl._write_time();
    v_count int := coalesce(cardinality(runs), 0);
    v_done bigint[];
    v_ending tid[];
    v_outputs text[];
    -- Tasks of flows that are done.
    v_flow tid[];
    v_flow_outputs text[];
    -- Tasks that end and were claimed from lanes.
    v_laned tid[];
    v_mixed uuid[];
    v_max int;
    v_bound text;
    v_late boolean;
    v_waits bigint[];
    v_suspends bigint[];
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        perform pawl._only_read_committed('commit');
    end if;
    perform pawl._check_commit(v_count, array[cardinality(fences), cardinality(kinds), cardinality(names),
        cardinality(payloads), cardinality(seqs), cardinality(tasks), cardinality(millis), cardinality(options)]);
    select least(s.payload_max, 29999), case when s.tenants_bound then pawl._bound_tenant('commit') end,
           -- The test of _are_late(), without the call.
           v_now > s.partitions_until - interval '26 hours'
           or s.partitions_until > v_now + interval '192 hours' and s.partitions_until < 'infinity'
    into v_max, v_bound, v_late
    from pawl_data.setting s where s.only_row;
    -- guard:commit_partitions
    if v_late then
        perform pawl._need_partitions_for(session, runs, kinds);
    end if;
    v_mixed := pawl._runs_one_by_one(runs, tasks, kinds, names, payloads, seqs, options, v_max);
    with locked as materialized (
        select i.n, i.run_id, i.task_no, i.fence, i.kind, i.name, i.payload, i.seq, i.millis, t.tid, t.round, t.lane
        from unnest(runs, tasks, fences, kinds, names, payloads, seqs, millis)
                 with ordinality i (run_id, task_no, fence, kind, name, payload, seq, millis, n)
        cross join lateral (
            select t.ctid as tid, t.round, t.lane
            from pawl_data.task t
            where t.run_id = i.run_id and t.task_no = coalesce(i.task_no, 0)
              -- guard:fence
              and t.session_id = session and t.fence = i.fence
              -- guard:plain
              and not (t.crashes > 0 or t.woken or t.undo or t.rolling_back or t.kept or t.attached
                       or t.retries is not null or t.ending is not null or t.paused is not null
                       or t.parent_id is not null)
              -- A task without a start has execution 0, so no later claim would load its records. A run of more than a day is stored in the
              -- kept tables at its end.
              and t.started and t.triggered_at > v_now - interval '24 hours'
              -- In a later round the unique index does not find the records of earlier rounds.
              and t.round = 1
              and (v_bound is null or t.tenant = v_bound)
            -- guard:commit_lock
            for update skip locked
        ) t
        where i.run_id <> all (v_mixed)
          -- guard:epoch
          and session >> 32 = (select s.epoch from pawl_data.setting s where s.only_row)
    ), recorded as (
        insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
        select k.run_id, coalesce(k.task_no, 0), k.round, 's', 's', k.seq, 1, k.fence,
               v_now - coalesce(k.millis, 0) * interval '1 ms', v_now, k.name, k.payload::json
        from locked k
        where k.kind = 'step'
    )
    select array_agg(k.n), array_agg(k.tid) filter (where k.kind = 'complete' and coalesce(k.task_no, 0) = 0),
           array_agg(k.payload) filter (where k.kind = 'complete' and coalesce(k.task_no, 0) = 0),
           array_agg(k.tid) filter (where k.kind = 'complete' and k.task_no > 0),
           array_agg(k.payload) filter (where k.kind = 'complete' and k.task_no > 0),
           array_agg(k.tid) filter (where k.kind = 'complete' and k.lane is not null)
    into v_done, v_ending, v_outputs, v_flow, v_flow_outputs, v_laned
    from locked k;
    -- guard:commit_leaves_lanes
    if v_laned is not null then
        perform pawl._leave_lanes(v_laned, v_now);
    end if;
    if v_ending is not null then
        perform pawl._end_plain(v_ending, v_outputs, v_now);
    end if;
    if v_flow is not null then
        perform pawl._finish_tasks(v_flow, v_flow_outputs, v_now);
    end if;
    return query select n::int, 'ok', null::text, null::json from unnest(v_done) n;
    if coalesce(cardinality(v_done), 0) < v_count then
        if not kinds <@ array['step'] then
            perform pawl._check_whole(runs, tasks, fences, v_done);
        end if;
        if 'event' = any (kinds) then
            select w.waits, w.suspends into v_waits, v_suspends
            from pawl._open_waits(session, v_now, runs, tasks, fences, kinds, names, payloads, seqs, options, v_bound) w;
            return query select n::int, 'ok', null::text, json_build_object('state', 'PAUSED') from unnest(v_waits) n;
            return query select n::int, 'ok', null::text, null::json from unnest(v_suspends) n;
            v_done := v_done || coalesce(v_waits || v_suspends, '{}');
        end if;
        return query
        select i.item, i.answer, i.reason, i.value
        from pawl._commit_rest(session, v_now, runs, tasks, fences, kinds, names, payloads, seqs, millis, options,
                               coalesce(v_done, '{}'), false) i;
    end if;
end
$$;
comment on function pawl.commit(bigint, uuid[], int[], text[], text[], text[], int[], int[], int[], text[]) is
'Reports the progress of many tasks at once: parallel lists, one place for each item. An item has the run, the fence it was claimed with, a kind and, as the kind needs, a name (BRANCH/NAME#n), a payload (JSON), seq (order of first start), task, millis (how long it took) and an option object. The kinds are listed in docs/sql-api.md. The answer has one row for each item: ok; already (done before, value holds what was recorded); busy, with the reason: send it again (another transaction holds the run; or an earlier item of the same claim in this call was busy or refused, so that this one was not examined; or another call of the session that sends late results is in progress); lease_lost, which items of the same claim after it answer, too; cancelled; refused, with the reason. One stale or locked item harms no other. Some things raise an error for the whole call, which then has done nothing (see Errors).
If repeated: use commit_each for a call whose reply was lost; items that were applied answer already.
Locks: the tasks named, skipping locked ones; for children their parents, for waits the topic, likewise.
Errors: for the call as a whole PW003, PW008, PW009; PW010 the items of one run could not be applied in order, 22P02 invalid JSON, 23505 a step sent twice, 54000 a step without a number in a run that has 100,000: send the call again through commit_each.
Limits: 10,000 items.';

create or replace function pawl.commit_each(
    session bigint, runs uuid[], fences int[], kinds text[], names text[] default null, payloads text[] default null,
    seqs int[] default null, tasks int[] default null, millis int[] default null, options text[] default null)
returns table (item int, answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
-- Otherwise its large statements are planned at each call, which takes longer than to execute them.
set plan_cache_mode to force_generic_plan
as $$
#variable_conflict use_column
declare
    v_count int := coalesce(cardinality(runs), 0);
    -- One time for the whole call.
    v_now timestamptz := pawl._write_time();
begin
    perform pawl._only_read_committed('commit_each');
    perform pawl._bound_tenant('commit_each');
    perform pawl._check_commit(v_count, array[cardinality(fences), cardinality(kinds), cardinality(names),
        cardinality(payloads), cardinality(seqs), cardinality(tasks), cardinality(millis), cardinality(options)]);
    perform pawl._need_partitions_for(session, runs, kinds);
    return query
    select i.item, i.answer, i.reason, i.value
    from pawl._commit_rest(session, v_now, runs, tasks, fences, kinds, names, payloads, seqs, millis, options, '{}',
                           true) i;
end
$$;
comment on function pawl.commit_each(bigint, uuid[], int[], text[], text[], text[], int[], int[], int[], text[]) is
'The same as commit, item by item, each protected from the others: for a call whose reply was lost, and for a batch that commit refused because one item is not JSON. Slower; only the bad item is refused.
If repeated: items that were applied answer already.
Locks: as commit.
Errors: for the call as a whole PW003, PW008, PW009; PW010 another transaction is making a partition that it needs: send it again.
Limits: 10,000 items.';
