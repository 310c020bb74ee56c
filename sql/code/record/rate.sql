-- SPDX-License-Identifier: Apache-2.0
-- Rates of lanes: how many tasks may start, and from when on.

-- The time between two starts of a rate such as 10/min, in microseconds, rounded up: a lane starts rather fewer than more.
create or replace function pawl._rate_gap(p_rate text)
returns bigint
language plpgsql
immutable
strict
set search_path to pg_catalog, pg_temp
as $$
declare
    v_count bigint := split_part(p_rate, '/', 1)::bigint;
begin
    return (case split_part(p_rate, '/', 2) when 's' then 1000000 when 'min' then 60000000 when 'h' then 3600000000 else 86400000000 end
            + v_count - 1) / v_count;
end
$$;
comment on function pawl._rate_gap(text) is 'microseconds between two starts of a rate';

create or replace function pawl._check_rate(p_rate text, p_burst int)
returns void
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_rate !~ '^[1-9][0-9]{0,4}/(s|min|h|day)$' then
        -- guard:rate_form
        perform pawl._raise('PW003', format('bad key_rate "%s"', left(p_rate, 100)), 'Write how many runs may start, and in which time: 5/s, 10/min, 100/h or 1/day.');
    end if;
    if p_burst not between 1 and 10000 or p_burst is not null and p_rate is null then
        -- guard:burst_range
        perform pawl._raise('PW003', 'key_burst must be between 1 and 10000, and needs a key_rate', 'Null is the burst 1: starts are spread evenly.');
    end if;
end
$$;
comment on function pawl._check_rate(text, int) is 'refuses a malformed rate';

create or replace function pawl._after(p_at timestamptz, p_micros bigint)
returns timestamptz
language plpgsql
immutable
strict
set search_path to pg_catalog, pg_temp
as $$
begin
    return p_at + make_interval(secs => p_micros / 1000000::double precision);
end
$$;
comment on function pawl._after(timestamptz, bigint) is 'a time and so many microseconds after it';

-- Until when the starts of a lane, which the caller has locked, are paid for. A start pays for the time between two starts. So the time is at
-- most a whole burst ahead; if it is later, the clock was set back, or the rate was raised.
create or replace function pawl._paid_until(p_paid timestamptz, p_gap bigint, p_burst int)
returns timestamptz
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- Read now, under the lock. 1. A reads the clock, and is delayed. 2. Others take tasks of the lane. By the clock of A they would seem to
    -- come from the future.
    v_last timestamptz := pawl._after(pawl.now(), p_gap * p_burst);
begin
    -- 1. The clock is an hour fast, and runs start. 2. It is set right. Without this the lane would be shut for an hour. All starts of a burst
    -- count as used: the next one is allowed after the time between two starts.
    -- guard:rate_clock
    return case when p_paid > v_last + interval '1 s' then v_last else p_paid end;
end
$$;
comment on function pawl._paid_until(timestamptz, bigint, int) is 'until when the starts of a lane are paid for, by the clock as it is now';

-- How many tasks of a lane may start at p_now. For every n, the start of n tasks is allowed from (burst - n) gaps before p_paid on. So k starts in
-- any stretch of time move p_paid by k gaps from its beginning, at least, and it is at most a burst after its end: k <= rate * time + burst.
-- That holds whatever the order in which claims read the clock and lock the lane.
create or replace function pawl._starts_left(p_paid timestamptz, p_gap bigint, p_burst int, p_now timestamptz)
returns int
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_ahead bigint := greatest(pawl._micros(p_paid) - pawl._micros(p_now), 0);
begin
    return greatest(p_burst - coalesce((v_ahead + p_gap - 1) / p_gap, 0), 0);
end
$$;
comment on function pawl._starts_left(timestamptz, bigint, int, timestamptz) is 'how many tasks of a lane with a rate may start';

-- The first queue after p_after with a lane whose rate lets a task start again, among the first hundred such lanes.
create or replace function pawl._next_opening(p_after int)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl.now();
begin
    return (
        select min(l.queue_id)
        from (select l.queue_id from pawl_data.lane l where l.state = 'w' and l.opens_at <= v_now order by l.opens_at limit 100) l
        where l.queue_id > p_after);
end
$$;
comment on function pawl._next_opening(int) is 'the next queue with a lane whose rate lets a task start again';
