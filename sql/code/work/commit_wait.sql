-- SPDX-License-Identifier: Apache-2.0
-- Waits for events, opened in sets: pairs of items, event and suspend, of runs that do nothing else in the call.

-- The pairs that can be opened in a set, with their tasks locked: of a coded run without anything special, for an event without a match, with
-- a time limit that is not over at once.
create or replace function pawl._plain_waits(
    p_session bigint, p_runs uuid[], p_tasks int[], p_fences int[], p_kinds text[], p_names text[], p_payloads text[], p_seqs int[],
    p_options text[], p_bound text)
returns table (item bigint, next_item bigint, run_id uuid, name text, seq int, topic text, key text, timeout_ms text, tenant text,
               triggered_at timestamptz)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
#variable_conflict use_column
begin
    return query
    select i.n, i.next_n, i.run_id, i.name, i.seq, i.topic, i.key, i.timeout_ms, t.tenant, t.triggered_at
    from (
        select i.n, i.next_n, i.run_id, i.fence, i.name, i.seq, o.option ->> 'topic' as topic, coalesce(o.option ->> 'key', '') as key,
               o.option ->> 'timeout_ms' as timeout_ms, o.option -> 'match' as match
        from (
            select i.*, count(*) over (partition by i.run_id) as items,
                   lead(i.n) over w as next_n, lead(i.kind) over w as next_kind, lead(i.payload) over w as next_payload, lead(i.option) over w as next_option
            from unnest(p_runs, p_tasks, p_fences, p_kinds, p_names, p_payloads, p_seqs, p_options)
                     with ordinality i (run_id, task_no, fence, kind, name, payload, seq, option, n)
            window w as (partition by i.run_id, coalesce(i.task_no, 0), i.fence order by i.n)
        ) i
        cross join lateral (select i.option::json as option offset 0) o
        -- guard:plain_wait_pair
        where i.kind = 'event' and i.next_kind = 'suspend' and i.items = 2
          and coalesce(i.task_no, 0) = 0 and i.payload is null and i.next_payload is null and i.next_option is null
          and i.seq <= 100000 and length(i.name) <= 240 and i.name ~ '^([a-z0-9_.-]{1,100}/)*[a-z0-9_.-]{1,100}#[0-9]{1,9}$'
          and octet_length(i.option) <= 65536
          -- The depth of the option, at most: see _item_problem().
          and octet_length(i.option) - octet_length(translate(i.option, '{[', '')) <= 64
        offset 0
    ) i
    cross join lateral (
        select t.tenant, t.triggered_at
        from pawl_data.task t
        where t.run_id = i.run_id and t.task_no = 0
          -- guard:plain_wait_fence
          and t.session_id = p_session and t.fence = i.fence
          -- guard:plain_wait
          and not (t.woken or t.rolling_back or t.kept or t.retries is not null or t.ending is not null or t.paused is not null
                   -- A suspend makes room in the lane, which is done one by one.
                   -- guard:plain_wait_lane
                   or t.lane is not null)
          and t.round = 1 and (p_bound is null or t.tenant = p_bound)
          -- One search is for the records of all these runs. Older runs would make it open, and lock, the tables of all days in between.
          and t.triggered_at > pawl.now() - interval '24 hours'
          -- guard:plain_wait_epoch
          and p_session >> 32 = (select s.epoch from pawl_data.setting s where s.only_row)
        for update skip locked
    ) t
    where length(i.topic) between 1 and 200 and length(i.key) <= 500 and (i.match is null or json_typeof(i.match) = 'null')
      and (i.timeout_ms is null or i.timeout_ms ~ '^[1-9][0-9]{0,13}$');
end
$$;
comment on function pawl._plain_waits(bigint, uuid[], int[], int[], text[], text[], text[], int[], text[], text) is 'pairs of items that open a plain wait; locks their tasks';

-- Opens these waits and suspends their runs, as _commit_item() does one by one. Returns the numbers of the items that are done; the others are
-- left to _commit_rest(), which answers for them.
create or replace function pawl._open_waits(
    p_session bigint, p_now timestamptz, p_runs uuid[], p_tasks int[], p_fences int[], p_kinds text[], p_names text[], p_payloads text[],
    p_seqs int[], p_options text[], p_bound text, out waits bigint[], out suspends bigint[])
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_items bigint[];
    v_next bigint[];
    v_runs uuid[];
    v_names text[];
    v_seqs int[];
    v_topics text[];
    v_keys text[];
    v_due timestamptz[];
    v_tenants text[];
    v_triggered timestamptz[];
    -- The number of the topic and key of each, and whether this call has its row.
    v_groups int[];
    v_met boolean[] := array[]::boolean[];
    v_group record;
    v_chosen bigint[];
begin
    select array_agg(p.item), array_agg(p.next_item), array_agg(p.run_id), array_agg(p.name), array_agg(p.seq), array_agg(p.topic),
           array_agg(p.key), array_agg(coalesce(p_now + pawl._millis(p.timeout_ms, null), 'infinity')), array_agg(p.tenant),
           array_agg(p.triggered_at), array_agg(p.topic_no)
    into v_items, v_next, v_runs, v_names, v_seqs, v_topics, v_keys, v_due, v_tenants, v_triggered, v_groups
    from (
        select p.*, dense_rank() over (order by p.tenant, p.topic, p.key)::int as topic_no
        from pawl._plain_waits(p_session, p_runs, p_tasks, p_fences, p_kinds, p_names, p_payloads, p_seqs, p_options, p_bound) p
    ) p;
    if v_runs is null then
        return;
    end if;
    for v_group in
        select distinct u.n, u.tenant, u.topic, u.key from unnest(v_groups, v_tenants, v_topics, v_keys) u (n, tenant, topic, key) order by u.n
    loop
        v_met[v_group.n] := not exists (
                select from pawl_data.topic o
                where o.tenant = v_group.tenant and o.topic = v_group.topic and o.key = v_group.key and cardinality(o.path_sets) >= 64
                  and '' <> all (o.path_sets))
            and pawl._meet(v_group.tenant, v_group.topic, v_group.key, '', p_now);
    end loop;
    -- A statement of its own, after the meeting: it sees every event emitted before, for the reason that wait.sql gives (wait_looks_back).
    select array_agg(u.n) into v_chosen
    from unnest(v_runs, v_tenants, v_topics, v_keys, v_triggered, v_groups) with ordinality u (run_id, tenant, topic, key, triggered_at, topic_no, n)
    where v_met[u.topic_no]
      -- guard:open_waits_look_back
      and (select count(*) from pawl_data.topic o
           where o.tenant = u.tenant and o.topic = u.topic and o.key = u.key and o.emitted_at >= u.triggered_at) = 0
      -- Another wait of the run may be due earlier, or have this name.
      -- guard:open_waits_only
      and (select count(*) from pawl_data.wait w where w.run_id = u.run_id and w.task_no = 0 and w.kind <> 'l') = 0
      -- guard:open_waits_recorded
      and u.n <> all (array(select pawl._recorded_places(v_runs, array_fill(0, array[cardinality(v_runs)]), v_names)));
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
    select u.run_id, 0, u.name, 'e', u.seq, u.tenant, u.topic, u.key, pawl._match_digest(null), p_now, u.due_at
    from unnest(v_runs, v_names, v_seqs, v_tenants, v_topics, v_keys, v_due) with ordinality u (run_id, name, seq, tenant, topic, key, due_at, n)
    where u.n = any (v_chosen);
    update pawl_data.task t
    set place = 'w', due_at = u.due_at, reason = 'event', session_id = null, request = null, started = false, recorded = true, attached = true,
        crashes = 0
    from unnest(v_runs, v_due) with ordinality u (run_id, due_at, n)
    where u.n = any (v_chosen) and t.run_id = u.run_id and t.task_no = 0;
    waits := array(select v_items[n] from unnest(v_chosen) n);
    suspends := array(select v_next[n] from unnest(v_chosen) n);
end
$$;
comment on function pawl._open_waits(bigint, timestamptz, uuid[], int[], int[], text[], text[], text[], int[], text[], text) is 'opens plain waits for events and suspends their runs';
