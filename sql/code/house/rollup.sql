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
    perform pawl._count_ended(v_from, v_to);
    delete from pawl_data.freed f where f.day < pawl._first_day('run', p_now);
    update pawl_data.chore c set position = date_part('epoch', v_to)::bigint::text where c.chore = 'rollup';
    return interval '10 s';
end
$$;
comment on function pawl._chore_rollup(timestamptz, pawl_data.chore) is 'counts the runs that ended, by minute';

-- Upper bounds of the buckets of durations, in seconds. What is longer is in one more bucket.
create or replace function pawl._bounds()
returns double precision[]
language sql
immutable
return array[0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86400]::double precision[];
comment on function pawl._bounds() is 'upper bounds of the buckets of durations';

-- The number of the bucket of a duration, from 1: a duration that is equal to a bound belongs to the bucket that it is the bound of. So the
-- bounds are negated, because width_bucket() has the lower bound in a bucket.
create or replace function pawl._bucket(p_seconds double precision)
returns int
language sql
immutable
return 15 - width_bucket(- p_seconds, array[-86400, -7200, -1800, -300, -60, -30, -10, -5, -2.5, -1, -0.5, -0.1, -0.05, -0.01]::double precision[]);
comment on function pawl._bucket(double precision) is 'the bucket of a duration';

-- Counts runs that ended in [p_from, p_to), which are whole minutes. The caller holds the row of the chore.
create or replace function pawl._count_ended(p_from timestamptz, p_to timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Workflows after these share one label, so that a scraper gets a bounded number of series.
    v_named_max constant int := 500;
begin
    with part as materialized (
        -- Few rows for each minute, from which all that follows is added up.
        select e.workflow_id, e.minute, e.tenant, e.status, case when e.started then pawl._bucket(e.seconds) end as seconds_no,
               pawl._bucket(e.waited) as waited_no, count(*) as n, sum(e.seconds) as seconds_sum, max(e.seconds) as seconds_max,
               sum(e.waited) as waited_sum
        from (
            select q.workflow_id, date_trunc('minute', r.ended_at) as minute, r.tenant, r.status, r.started_at is not null as started,
                   date_part('epoch', r.ended_at - coalesce(r.started_at, r.ended_at)) as seconds,
                   date_part('epoch', coalesce(r.started_at, r.ended_at) - r.triggered_at) as waited
            from pawl._ended_between(p_from, p_to) r
            join pawl_data.queue q on q.queue_id = r.queue_id
        ) e
        group by 1, 2, 3, 4, 5, 6
    ), bucket as (
        select p.workflow_id, p.minute, p.tenant, b.no, coalesce(sum(p.n) filter (where p.seconds_no = b.no), 0) as seconds_n,
               coalesce(sum(p.n) filter (where p.waited_no = b.no), 0) as waited_n
        from part p
        cross join generate_series(1, 15) b (no)
        group by 1, 2, 3, 4
    ), counted as materialized (
        select e.*, h.seconds_buckets, h.waited_buckets
        from (
            select p.workflow_id, p.minute, p.tenant, coalesce(sum(p.n) filter (where p.status = 's'), 0) as succeeded,
                   coalesce(sum(p.n) filter (where p.status = 'e'), 0) as failed, coalesce(sum(p.n) filter (where p.status = 'c'), 0) as cancelled,
                   sum(p.seconds_sum) as seconds_sum, max(p.seconds_max) as seconds_max, sum(p.waited_sum) as waited_sum
            from part p
            group by 1, 2, 3
        ) e
        join (
            select b.workflow_id, b.minute, b.tenant, array_agg(b.seconds_n::bigint order by b.no) as seconds_buckets,
                   array_agg(b.waited_n::bigint order by b.no) as waited_buckets
            from bucket b
            group by 1, 2, 3
        ) h on h.workflow_id = e.workflow_id and h.minute = e.minute and h.tenant = e.tenant
    ), stored as (
        insert into pawl_data.metric (workflow_id, minute, tenant, succeeded, failed, cancelled, seconds_sum, seconds_max, waited_sum,
                                      seconds_buckets, waited_buckets)
        select c.* from counted c
        on conflict on constraint metric_pkey do update
        set succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
            seconds_sum = excluded.seconds_sum, seconds_max = excluded.seconds_max, waited_sum = excluded.waited_sum,
            seconds_buckets = excluded.seconds_buckets, waited_buckets = excluded.waited_buckets
    ), gained as materialized (
        -- 1. A minute is counted. 2. The clock is moved backward by more than an hour, and counting begins again. 3. The minute is counted
        -- again, with what ended in it since. Only that is added: a total counts each run once. If runs were purged in between, a count is
        -- lower than before; a total never falls.
        -- guard:totals_once
        select c.workflow_id, greatest(c.succeeded - coalesce(m.succeeded, 0), 0) as succeeded,
               greatest(c.failed - coalesce(m.failed, 0), 0) as failed, greatest(c.cancelled - coalesce(m.cancelled, 0), 0) as cancelled,
               greatest(c.seconds_sum - coalesce(m.seconds_sum, 0), 0) as seconds_sum,
               greatest(c.waited_sum - coalesce(m.waited_sum, 0), 0) as waited_sum,
               pawl._gained(m.seconds_buckets, c.seconds_buckets) as seconds_buckets, pawl._gained(m.waited_buckets, c.waited_buckets) as waited_buckets
        from counted c
        left join pawl_data.metric m on m.workflow_id = c.workflow_id and m.minute = c.minute and m.tenant = c.tenant
    )
    insert into pawl_data.metric_total as t (workflow_id, named, succeeded, failed, cancelled, seconds_sum, waited_sum, seconds_buckets, waited_buckets)
    select g.workflow_id,
           -- Those that have a row come last: they keep what they are, and must not take the numbers of new ones.
           -- guard:named_new
           (select count(*) from pawl_data.metric_total o where o.named)
           + row_number() over (order by exists (select from pawl_data.metric_total o where o.workflow_id = g.workflow_id), g.workflow_id) <= v_named_max,
           sum(g.succeeded), sum(g.failed), sum(g.cancelled), sum(g.seconds_sum), sum(g.waited_sum),
           array(select sum(x.seconds_buckets[b]) from gained x, generate_series(1, 15) b where x.workflow_id = g.workflow_id group by b order by b),
           array(select sum(x.waited_buckets[b]) from gained x, generate_series(1, 15) b where x.workflow_id = g.workflow_id group by b order by b)
    from gained g
    group by g.workflow_id
    on conflict on constraint metric_total_pkey do update
    set succeeded = t.succeeded + excluded.succeeded, failed = t.failed + excluded.failed, cancelled = t.cancelled + excluded.cancelled,
        seconds_sum = t.seconds_sum + excluded.seconds_sum, waited_sum = t.waited_sum + excluded.waited_sum,
        seconds_buckets = pawl._added(t.seconds_buckets, excluded.seconds_buckets), waited_buckets = pawl._added(t.waited_buckets, excluded.waited_buckets);
end
$$;
comment on function pawl._count_ended(timestamptz, timestamptz) is 'counts the runs that ended within whole minutes';

create or replace function pawl._gained(p_before bigint[], p_after bigint[])
returns bigint[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array(select greatest(u.after - coalesce(u.before, 0), 0) from unnest(p_before, p_after) with ordinality u (before, after, no) order by u.no);
end
$$;
comment on function pawl._gained(bigint[], bigint[]) is 'by how much each number has risen';

create or replace function pawl._added(p_one bigint[], p_other bigint[])
returns bigint[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return array(select coalesce(u.one, 0) + coalesce(u.other, 0) from unnest(p_one, p_other) with ordinality u (one, other, no) order by u.no);
end
$$;
comment on function pawl._added(bigint[], bigint[]) is 'sums of numbers at the same place';

-- Returns runs that ended in [p_from, p_to), from the partitions of two days at most: a run that lasts longer than 24 hours is kept. A partition is
-- read backward, 64 pages at a time, because rows are appended in the order of their ends, give or take two minutes. Deleted rows make place
-- elsewhere: those pages are read, too. Rows of transactions that were rolled back also make place, and nothing says where: as many runs may be missed.
create or replace function pawl._ended_between(p_from timestamptz, p_to timestamptz)
returns table (
    run_id uuid, round smallint, queue_id int, status "char", tenant text, triggered_at timestamptz, started_at timestamptz, ended_at timestamptz)
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set jit to off
as $$
declare
    v_day date;
    v_name regclass;
    v_piece bigint;
    v_pieces bigint[];
    v_freed bigint[];
    v_first timestamptz;
    v_last timestamptz;
begin
    -- Counted in days: as moments they would be midnights of the caller's time zone, and some days have none.
    for v_day in
        select (p_from at time zone 'UTC')::date + d
        from generate_series(-1, (p_to at time zone 'UTC')::date - (p_from at time zone 'UTC')::date) d
    loop
        v_name := to_regclass('pawl_data.' || pawl._partition_name('run', v_day));
        continue when v_name is null;
        -- 1. Runs of today are purged. 2. Vacuum frees their place, in the middle of the partition. 3. Runs that end now are stored there,
        -- between rows that are hours old. Without this they would not be counted.
        -- guard:ended_in_freed
        v_freed := array(select distinct f.piece from pawl_data.freed f where f.day = v_day);
        v_pieces := v_freed;
        v_piece := (pg_relation_size(v_name) / current_setting('block_size')::bigint - 1) / 64;
        while v_piece >= 0 loop
            if v_piece <> all (v_freed) then
                -- Dynamic because the name of a partition is made of its day; reads the first and the last page of the piece by their addresses.
                execute format('select (select min(r.ended_at) from %1$s r where r.ctid >= %2$L::tid and r.ctid < %3$L::tid),
                                       (select min(r.ended_at) from %1$s r where r.ctid >= %4$L::tid and r.ctid < %5$L::tid)',
                    v_name, format('(%s,0)', v_piece * 64), format('(%s,0)', v_piece * 64 + 1),
                    format('(%s,0)', v_piece * 64 + 63), format('(%s,0)', v_piece * 64 + 64)) into v_first, v_last;
                if (v_first > p_to + interval '2 min' and v_last > p_to + interval '2 min') is not true then
                    v_pieces := v_pieces || v_piece;
                end if;
                exit when v_first < p_from - interval '2 min';
            end if;
            v_piece := v_piece - 1;
        end loop;
        foreach v_piece in array v_pieces loop
            -- Dynamic for the same reason.
            return query execute format('select r.run_id, r.round, r.queue_id, r.status, r.tenant, r.triggered_at, r.started_at, r.ended_at
                from %s r where r.ctid >= %L::tid and r.ctid < %L::tid and r.ended_at >= $1 and r.ended_at < $2',
                v_name, format('(%s,0)', v_piece * 64), format('(%s,0)', v_piece * 64 + 64)) using p_from, p_to;
        end loop;
    end loop;
    return query
    select k.run_id, k.round, k.queue_id, k.status, k.tenant, k.triggered_at, k.started_at, k.ended_at
    from pawl_data.run_kept k where k.ended_at >= p_from and k.ended_at < p_to;
end
$$;
comment on function pawl._ended_between(timestamptz, timestamptz) is 'runs that ended within a time';
