-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping. tick() is a procedure that commits after each piece, so that no transaction of a caller holds the rows that a piece has
-- locked. A piece locks rows only, skips rows that another transaction holds, and is bounded. Claims and heartbeats answer that a tick is
-- due; they do a little of it only if it is late. There is no leader: a worker that gets this answer calls tick().

-- Returns for how many microseconds a tick has been due; below 0 if it is not. A next tick more than ten seconds ahead shows that the clock
-- was moved backward: then a tick is due.
create or replace function pawl._tick_overdue(p_now timestamptz)
returns bigint
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_overdue bigint := pawl._micros(p_now) - (select c.last_value from pawl_data.housekeeping_clock c);
begin
    return case when v_overdue > -10000000 then v_overdue else 10000000 end;
end
$$;
comment on function pawl._tick_overdue(timestamptz) is 'for how long a tick has been due';

-- Returns whether a tick is due, for the answers of claim and heartbeat. If no caller has called tick() for two seconds, a session that is
-- not bound to a tenant does a little of it here. That is so if all workers are programs whose driver opens a transaction for every
-- statement. It does the four pieces that only lock rows, 50 rows in all. These stay locked until the caller commits; all other
-- transactions skip them.
create or replace function pawl._tick_due(p_now timestamptz, p_unbound boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- The value of _tick_overdue(), without the calls, because every claim pays for them.
    v_overdue bigint := (date_part('epoch', p_now) * 1000000)::bigint - (select c.last_value from pawl_data.housekeeping_clock c);
    v_left int := 50;
begin
    if v_overdue <= -10000000 then
        v_overdue := 10000000;
    end if;
    -- 1. A, a worker that is bound to one tenant, keeps its claim open. 2. Timers of other tenants are due. If A made them ready here, no
    -- worker could claim them until A ends.
    -- guard:late_tick_unbound
    if v_overdue > 2000000 and p_unbound then
        -- Other sessions do not do the same for a tenth of a second; a tick stays due.
        p_now := pawl._write_time();
        perform setval('pawl_data.housekeeping_clock', greatest(pawl._micros(p_now) - 1900000, 0));
        -- At most 30 of the 50 are timers: more of these may come due in every tenth of a second.
        v_left := v_left - pawl._do_piece('timers', p_now, 30, null);
        v_left := v_left - pawl._do_piece('sessions', p_now, v_left, null);
        v_left := v_left - pawl._do_piece('limits', p_now, greatest(v_left, 1), null);
        perform pawl._do_piece('deliveries', p_now, greatest(v_left, 1), null);
    end if;
    return v_overdue >= 0;
end
$$;
comment on function pawl._tick_due(timestamptz, boolean) is 'whether a tick is due; if it is late, does a little of it';

-- One of the pieces that claims may do, too; returns how many rows it has changed. p_tenant: only of that tenant; null: of all.
create or replace function pawl._do_piece(p_piece text, p_now timestamptz, p_max int, p_tenant text)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    return pawl._work_piece(p_piece, p_now, p_max, p_tenant, false);
exception
    when others then
        -- 1. The partition of a day was detached by hand, and a worker that held a run of that day is lost. 2. The sweep fails at that run,
        -- and everything in its transaction with it. So each row is tried alone now: a row that fails is recorded, and the other rows are
        -- done.
        -- guard:piece_fails_alone
        begin
            return pawl._work_piece(p_piece, p_now, p_max, p_tenant, true);
        exception
            when others then
                perform pawl._note_failure(p_piece, p_now, sqlstate || ' ' || sqlerrm);
                return 0;
        end;
end
$$;
comment on function pawl._do_piece(text, timestamptz, int, text) is 'a piece of housekeeping; what fails in it harms nothing else';

create or replace function pawl._work_piece(p_piece text, p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    return case p_piece
        when 'timers' then pawl._promote(p_now, p_max, p_tenant, p_each) + pawl._open_lanes(p_now, p_max, p_tenant)
        when 'sessions' then pawl._sweep(p_now, p_max, p_tenant, p_each)
        when 'limits' then pawl._enforce_limits(p_now, p_max, p_tenant, p_each)
        when 'schedules' then pawl._fire(p_now, p_max, p_tenant, p_each)
        when 'subscriptions' then pawl._start_runs(p_now, p_max, p_tenant, p_each)
        else pawl._deliver_more(p_now, p_max, p_tenant, p_each) end;
end
$$;
comment on function pawl._work_piece(text, timestamptz, int, text, boolean) is 'a piece of housekeeping, with each row protected or all together';

-- The pieces of a tick that have something to do.
create or replace function pawl._tick_pieces(p_now timestamptz)
returns int[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_epoch int := pawl._epoch();
begin
    -- A piece is a transaction, and while all workers are idle nearly every piece would find nothing. Each of these conditions holds
    -- whenever its piece has work, and sometimes when it has none. The chore tables does not count, because it stays due where the owner
    -- does not tick; it is done when another chore is due.
    -- Sessions precede timers. 1. A calls tick(), while the lease of another session has expired. 2. Timers take longer than the lease of A.
    -- 3. The heartbeat of A waits on its connection, after the tick. If sessions came after timers, the tick of A would end its session.
    -- guard:tick_sessions_first
    return array(
        select 2 where exists (
            select from pawl_data.worker w
            where w.ended_at is null
              and (w.lease_until < p_now or w.session_id >> 32 <> v_epoch or w.lease_until - p_now > w.lease))
        union all
        select 1 where exists (select from pawl_data.task t where t.place = 'w' and t.due_at <= p_now)
                       or pg_relation_size('pawl_data.lane_queue') > 0 and pawl._next_opening(0) is not null
        union all
        select 3 where exists (select from pawl_data.wait w where w.kind = 'l' and w.due_at <= p_now)
                       or exists (select from pawl_data.worker w where w.ended_at is null and w.next_limit_at < p_now and w.next_limit_at < 'infinity')
        union all
        select 4 where exists (select from pawl_data.delivery d where d.due_at <= p_now or d.due_at > p_now + interval '1 hour')
        union all
        select 5 where exists (select from pawl_data.schedule s where not s.paused and s.fire_at <= p_now)
                       and not (select s.paused from pawl_data.setting s where s.only_row)
        union all
        select 6 where (exists (select from pawl_data.subscription_event) or pawl._held_subscriptions(p_now, 1, null) <> '{}')
                       and not (select s.paused from pawl_data.setting s where s.only_row)
        union all
        select 7 where exists (
            select from pawl_data.chore c
            where c.chore <> 'tables' and (c.due_at <= p_now or c.due_at > p_now + interval '1 hour' and c.due_at < 'infinity'))
            -- guard:bulk_due
            or exists (select from pawl_data.bulk b where b.ended_at is null and (b.due_at <= p_now or b.due_at > p_now + interval '1 hour')));
end
$$;
comment on function pawl._tick_pieces(timestamptz) is 'the pieces of housekeeping that have something to do';

-- Whether a worker that rests should tick. If there is nothing to do, it moves the clock as a tick would: otherwise the next claim would find
-- it late, and look for work of housekeeping itself.
create or replace function pawl._tick_needed(p_now timestamptz, p_unbound boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if pawl._tick_overdue(p_now) < 0 then
        return false;
    end if;
    if pawl._tick_pieces(p_now) <> '{}' then
        return true;
    end if;
    -- guard:rest_clock
    if p_unbound then
        perform setval('pawl_data.housekeeping_clock', pawl._micros(p_now) + 100000);
    end if;
    return false;
end
$$;
comment on function pawl._tick_needed(timestamptz, boolean) is 'whether a tick is due and has something to do';

-- Begins a tick. Returns the pieces that have something to do; none if no tick is due. A session that is bound to a tenant does not move
-- the clock, which all sessions share. It does not begin while other sessions tick in time.
create or replace function pawl._tick_begins(p_force boolean)
returns int[]
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl.now();
begin
    if not p_force and pawl._tick_overdue(v_now) < 0 then
        return array[]::int[];
    end if;
    if pawl._bound_tenant('tick') is null then
        perform setval('pawl_data.housekeeping_clock', pawl._micros(v_now) + 100000);
    end if;
    if p_force then
        return array[2, 1, 3, 4, 5, 6, 7];
    end if;
    return pawl._tick_pieces(v_now);
end
$$;
comment on function pawl._tick_begins(boolean) is 'the pieces of a tick that have something to do';

-- Does one piece of a tick, in a separate transaction. Returns true if the same piece has more to do. If a caller calls it in a transaction
-- that stays open, it delays the rows that it has locked and nothing else.
create or replace function pawl._tick_piece(p_piece int)
returns boolean
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl._write_time();
    v_tenant text := pawl._bound_tenant('tick');
begin
    perform pawl._only_read_committed('tick');
    if p_piece between 1 and 6 then
        -- guard:tick_tenant
        return pawl._do_piece((array['timers', 'sessions', 'limits', 'deliveries', 'schedules', 'subscriptions'])[p_piece], v_now,
                case p_piece when 6 then 200 when 5 then 20 when 4 then 1000 else 100 end, v_tenant)
            -- A page is of one delivery, schedules are fired for 10 ms, and runs of events are started for 50 ms: others may be due.
            >= case when p_piece in (4, 5, 6) then 1 else 100 end;
    end if;
    -- An operator that is bound to a tenant may tick where no keeper runs. Chores are of all tenants, and it does none; but its bulks continue.
    -- Chores come first, because a hundred bulks are nearly always due, and each chore only now and then.
    -- guard:tick_chores
    if v_tenant is null and pawl._do_chore(v_now, false) then
        return true;
    end if;
    return pawl._next_bulk(v_now, v_tenant);
end
$$;
comment on function pawl._tick_piece(int) is 'one piece of a tick';

-- The piece that only the owner of the schema does; no role is ever granted this function.
create or replace function pawl._tick_tables()
returns boolean
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform pawl._only_read_committed('tick');
    return pawl._do_chore(pawl.now(), true);
end
$$;
comment on function pawl._tick_tables() is 'the piece of a tick that takes empty tables away';

-- It has the privileges and the settings of its caller, because no other procedure may commit. So every name is qualified, and it contains
-- only transaction commands and calls of pieces.
create or replace procedure pawl.tick(force boolean default false)
language plpgsql
as $$
declare
    v_pieces int[];
    v_piece int;
begin
    -- The same error as for any other write, so that a client leaves this server: read write below would fail with 0A000.
    if pg_catalog.pg_is_in_recovery() then
        raise exception using errcode = '25006', message = 'cannot tick during recovery', hint = 'Call it on the primary.';
    end if;
    -- 1. A calls this in a transaction block, or as a driver that opens one does. 2. This commit raises 2D000 before anything is done.
    -- Without it, what A locks would stay locked for as long as A likes.
    -- guard:tick_commits_first
    commit;
    set transaction isolation level read committed, read write;
    v_pieces := pawl._tick_begins(force);
    foreach v_piece in array v_pieces loop
        for v_turn in 1..5 loop
            -- These two are next to each other: even the bounds of a loop are a query.
            commit;
            set transaction isolation level read committed, read write;
            exit when not pawl._tick_piece(v_piece);
        end loop;
    end loop;
    if v_piece = 7 and pg_catalog.has_function_privilege('pawl._tick_tables()', 'execute') then
        for v_turn in 1..20 loop
            commit;
            set transaction isolation level read committed, read write;
            exit when not pawl._tick_tables();
        end loop;
    end if;
    -- guard:tick_commits_last
    commit;
end
$$;
comment on procedure pawl.tick(boolean) is
'Housekeeping, if it is due (about every 100 ms for the whole database), or with force in any case: due timers, sessions whose lease has expired, time limits, deliveries of events, schedules, runs that events start, and the chores: partitions ahead, retention, old keys, topics and sessions, metrics, the calendar of schedules, and bulks. It commits after each piece, and raises in a transaction block before it has done anything: call it alone, with autocommit. libpawl''s workers and pawl keeper do so; a worker in SQL calls it when claim or heartbeat answers tick_due. A role that is bound to a tenant does this for its own tenant only, and no chores. Only a role with the privileges of the schema''s owner removes empty tables, for which others wait up to 20 ms.
If repeated: does the remaining work.
Locks: rows, skipping locked ones; of a day past its retention its tables; each for the time of one piece.
Errors: 2D000 it was called in a transaction block, or in a pipeline after another statement, 25006 the server is a standby.
Limits: 500 timers, 500 tasks of lost sessions, 500 limits, 5 pages of 1,000 waits, 100 schedules or 50 ms, 1,000 runs of events or 250 ms, 5 chores or pieces of bulks.';

-- Makes waiting tasks ready whose time has come. due_at becomes the time at which they became ready, so that a claim that scans from a mark
-- on finds them.
create or replace function pawl._promote(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_due tid[];
    v_tid tid;
    v_count int := 0;
begin
    if p_tenant is null then
        v_due := array(
            select d.ctid
            from pawl_data.task d
            where d.place = 'w' and d.due_at <= p_now
            order by d.due_at
            limit p_max
            for update skip locked);
    else
        v_due := pawl._due_of_tenant(p_now, p_max, p_tenant);
    end if;
    if cardinality(v_due) = 0 or not p_each then
        return case when cardinality(v_due) = 0 then 0 else pawl._make_ready(v_due, p_now) end;
    end if;
    foreach v_tid in array v_due loop
        begin
            v_count := v_count + pawl._make_ready(array[v_tid], p_now);
        exception
            when others then
                perform pawl._note_failure('timers', p_now, format('run %s: %s %s', (select t.run_id from pawl_data.task t where t.ctid = v_tid), sqlstate, sqlerrm));
        end;
    end loop;
    return v_count;
end
$$;
comment on function pawl._promote(timestamptz, int, text, boolean) is 'makes waiting tasks ready whose time has come';

-- Locks and returns due tasks of one tenant. No index has these by tenant, because it would cost every run that waits. So both ends of the
-- due order are read, 5,000 tasks each. Tasks of other tenants are many only if no session ticks for these tenants. Tasks that come due
-- while this tenant's workers tick are at the end.
create or replace function pawl._due_of_tenant(p_now timestamptz, p_max int, p_tenant text)
returns tid[]
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_due tid[] := array(
        select e.ctid
        from (
            (select t.ctid, t.due_at, t.tenant from pawl_data.task t where t.place = 'w' and t.due_at <= p_now order by t.due_at limit 5000)
            union
            (select t.ctid, t.due_at, t.tenant from pawl_data.task t where t.place = 'w' and t.due_at <= p_now order by t.due_at desc limit 5000)
        ) e
        where e.tenant = p_tenant
        order by e.due_at
        limit p_max);
begin
    return array(
        -- Lock by address alone, and test the conditions under the lock: otherwise the planner may choose the index of all waiting tasks.
        with locked as materialized (
            select t.ctid as address, t.place, t.due_at, t.tenant
            from pawl_data.task t
            where t.ctid = any (v_due)
            for update skip locked
        )
        select l.address from locked l where l.place = 'w' and l.due_at <= p_now and l.tenant = p_tenant);
end
$$;
comment on function pawl._due_of_tenant(timestamptz, int, text) is 'waiting tasks of a tenant whose time has come';

-- Returns whether no session that is free of tenants has ticked for a minute: the chore workers, which is due every ten seconds, shows it.
-- In that case timers, lost sessions and limits of tenants without their own worker wait, and so do all chores.
create or replace function pawl._keeper_missing(p_now timestamptz)
returns boolean
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    return exists (select from pawl_data.chore c where c.chore = 'workers' and c.due_at < p_now - interval '60 s');
end
$$;
comment on function pawl._keeper_missing(timestamptz) is 'whether no caller does housekeeping for all tenants';

create or replace function pawl._keeper_cure()
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    return 'A keeper is missing: no role that is free of tenants has called pawl.tick() for a minute. Start pawl keeper, or a worker of such a role';
end
$$;
comment on function pawl._keeper_cure() is 'what to do if no caller does housekeeping for all tenants';

create or replace function pawl.housekeep()
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
declare
    v_now timestamptz := pawl._write_time();
begin
    perform pawl._only_read_committed('housekeep');
    perform pawl._only_unbound('housekeep');
    perform pawl._do_piece('timers', v_now, 500, null);
    perform pawl._do_piece('sessions', v_now, 500, null);
    perform pawl._do_piece('limits', v_now, 100, null);
    perform pawl._do_piece('deliveries', v_now, 1000, null);
    perform pawl._do_piece('schedules', v_now, 100, null);
    perform pawl._do_piece('subscriptions', v_now, 200, null);
    for v_n in 1..10 loop
        exit when not pawl._do_chore(v_now, false);
    end loop;
    -- guard:housekeep_bulk
    perform pawl._next_bulk(v_now, null);
end
$$;
comment on function pawl.housekeep() is
'The work of tick() as a function, for operators, tests and a cron job that cannot send call: due timers, lost sessions, time limits, deliveries, schedules, runs that events start, chores and a bulk, in the caller''s transaction. The rows that it changes, and the tables of a day that it empties, stay locked until that ends, so call it alone. It removes no table. A role that is bound to a tenant calls tick() instead.
If repeated: does the remaining work.
Locks: rows, skipping locked ones; of a day past its retention its tables.
Errors: PW007 the role is bound to one tenant, PW008 isolation level.
Limits: 500 timers, 500 tasks of 10 lost sessions, 100 limits, a page of 1,000 waits, 100 schedules or 10 ms, 200 runs of events or 50 ms, 10 chores, 200 runs of a bulk or 100 ms.';
