-- SPDX-License-Identifier: Apache-2.0
-- The chore that counts ended runs by minute.

-- Counts ended runs by workflow and minute, once another minute has passed after that minute.
create or replace function pawl._chore_rollup(p_now timestamptz, p_chore pawl_data.chore)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Stored as seconds since 1970: a timestamp as text would depend on the settings of the session that wrote it.
    v_from timestamptz := to_timestamp(p_chore.position::float8);
    v_to timestamptz;
begin
    -- No minute was counted yet, or the position is far ahead because the clock was moved backward. Without the test nothing would be
    -- counted until the clock gets there again.
    -- guard:rollup_clock
    if v_from is null or v_from > p_now + interval '1 hour' then
        v_from := date_trunc('minute', p_now) - interval '3 min';
    end if;
    v_to := least(date_trunc('minute', p_now) - interval '1 min', v_from + interval '10 min');
    if v_to <= v_from then
        return interval '10 s';
    end if;
    insert into pawl_data.metric (workflow_id, minute, tenant, succeeded, failed, cancelled, seconds_sum, seconds_max, waited_sum)
    select q.workflow_id, date_trunc('minute', r.ended_at), r.tenant, count(*) filter (where r.status = 's'),
           count(*) filter (where r.status = 'e'), count(*) filter (where r.status = 'c'),
           sum(date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at))),
           max(date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at))),
           sum(date_part('epoch', coalesce(r.started_at, r.ended_at) - r.triggered_at))
    from pawl._ended_between(v_from, v_to) r
    join pawl_data.queue q on q.queue_id = r.queue_id
    group by 1, 2, 3
    on conflict on constraint metric_pkey do update
    set succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
        seconds_sum = excluded.seconds_sum, seconds_max = excluded.seconds_max, waited_sum = excluded.waited_sum;
    update pawl_data.chore c set position = date_part('epoch', v_to)::bigint::text where c.chore = 'rollup';
    return interval '10 s';
end
$$;
comment on function pawl._chore_rollup(timestamptz, pawl_data.chore) is 'counts the runs that ended, by minute';

-- Returns runs that ended in [p_from, p_to). Reads the partitions of the last two days from their ends backward, 64 pages at a time. Stops
-- at rows that ended more than two minutes before p_from.
create or replace function pawl._ended_between(p_from timestamptz, p_to timestamptz)
returns table (queue_id int, status "char", tenant text, triggered_at timestamptz, started_at timestamptz, ended_at timestamptz)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set jit to off
as $$
declare
    v_day date;
    v_name regclass;
    v_page bigint;
    v_end bigint;
    v_oldest timestamptz;
begin
    -- Counted in days: as moments they would be midnights of the caller's time zone, and some days have none.
    for v_day in
        select (p_from at time zone 'UTC')::date + d
        from generate_series(-1, (p_to at time zone 'UTC')::date - (p_from at time zone 'UTC')::date) d
    loop
        v_name := to_regclass('pawl_data.' || pawl._partition_name('run', v_day));
        continue when v_name is null;
        v_page := pg_relation_size(v_name) / current_setting('block_size')::bigint;
        while v_page > 0 loop
            -- Not 64 from there: the first piece of a partition is shorter.
            v_end := v_page;
            v_page := greatest(v_page - 64, 0);
            -- Dynamic because the name of a partition is made of its day; reads 64 pages by their addresses.
            return query execute format('select r.queue_id, r.status, r.tenant, r.triggered_at, r.started_at, r.ended_at
                from %s r where r.ctid >= %L::tid and r.ctid < %L::tid and r.ended_at >= $1 and r.ended_at < $2',
                v_name, format('(%s,0)', v_page), format('(%s,0)', v_end)) using p_from, p_to;
            -- Dynamic for the same reason.
            execute format('select min(r.ended_at) from %s r where r.ctid >= %L::tid and r.ctid < %L::tid',
                v_name, format('(%s,0)', v_page), format('(%s,0)', v_page + 1)) into v_oldest;
            exit when v_oldest < p_from - interval '2 min';
        end loop;
    end loop;
    return query
    select k.queue_id, k.status, k.tenant, k.triggered_at, k.started_at, k.ended_at
    from pawl_data.run_kept k where k.ended_at >= p_from and k.ended_at < p_to;
end
$$;
comment on function pawl._ended_between(timestamptz, timestamptz) is 'runs that ended within a time, from the ends of recent partitions';
