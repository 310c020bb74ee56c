-- SPDX-License-Identifier: Apache-2.0
-- Housekeeping. tick() is a procedure that commits after each piece, so that no transaction of a caller holds what a piece has locked. A
-- piece locks rows only, skips those that another transaction holds, and is bounded. Claims and heartbeats only answer that a tick is due.
-- No leader: whoever is told so calls it.

-- For how many microseconds a tick has been due; below 0: it is not. A clock of housekeeping that is far ahead shows that the clock was
-- set back.
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

-- What claim and heartbeat do about housekeeping: nothing but to say that a tick is due. Unless nobody has called tick() for two seconds,
-- as where all workers are programs whose driver opens a transaction for every statement: then a session that is not bound to a tenant does
-- the four pieces that only lock rows, 50 rows in all. These stay locked until the caller commits; everybody else skips them.
create or replace function pawl._tick_due(p_now timestamptz, p_unbound boolean)
returns boolean
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- As _tick_overdue() has it; without the calls, because every claim pays for them.
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
        -- Others wait for a tenth of a second with theirs; a tick stays due.
        perform setval('pawl_data.housekeeping_clock', greatest(pawl._micros(p_now) - 1900000, 0));
        -- Not all of it for timers: of these there may be more in every tenth of a second.
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
        -- 1. The partition of a day was detached by hand, and a worker that held a run of that day is lost. 2. The sweep fails at that
        -- run, and everything in its transaction with it. So each row is tried alone now: what fails is noted, and the rest is done.
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
        when 'timers' then pawl._promote(p_now, p_max, p_tenant, p_each)
        when 'sessions' then pawl._sweep(p_now, p_max, p_tenant, p_each)
        when 'limits' then pawl._enforce_limits(p_now, p_max, p_tenant, p_each)
        else pawl._deliver_more(p_now, p_max, p_tenant, p_each) end;
end
$$;
comment on function pawl._work_piece(text, timestamptz, int, text, boolean) is 'a piece of housekeeping, with each row protected or all together';

-- Begins a tick: which pieces have something to do; none if it is not due. A session that is bound to a tenant leaves the clock alone, which is everybody's, and does not
-- begin while others tick in time.
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
    v_epoch int := pawl._epoch();
begin
    if not p_force and pawl._tick_overdue(v_now) < 0 then
        return array[]::int[];
    end if;
    if pawl._bound_tenant() is null then
        perform setval('pawl_data.housekeeping_clock', pawl._micros(v_now) + 100000);
    end if;
    if p_force then
        return array[1, 2, 3, 4, 5];
    end if;
    -- A piece is a transaction, and where all workers are idle nearly every one would find nothing. Each of these conditions holds whenever
    -- its piece has work, and sometimes when it has none. Chore tables is due for ever where the owner does not tick: others make it come up.
    return array(
        select 1 where exists (select from pawl_data.task t where t.place = 'w' and t.due_at <= v_now)
        union all
        select 2 where exists (
            select from pawl_data.worker w
            where w.ended_at is null
              and (w.lease_until < v_now or w.session_id >> 32 <> v_epoch or w.lease_until > pawl._shift(v_now, w.lease)))
        union all
        select 3 where exists (select from pawl_data.wait w where w.kind = 'l' and w.due_at <= v_now)
                       or exists (select from pawl_data.worker w where w.ended_at is null and w.next_limit_at < v_now and w.next_limit_at < 'infinity')
        union all
        select 4 where exists (select from pawl_data.delivery d where d.due_at <= v_now or d.due_at > v_now + interval '1 hour')
        union all
        select 5 where exists (
            select from pawl_data.chore c
            where c.chore <> 'tables' and (c.due_at <= v_now or c.due_at > v_now + interval '1 hour' and c.due_at < 'infinity')));
end
$$;
comment on function pawl._tick_begins(boolean) is 'the pieces of a tick that have something to do';

-- One piece of a tick, in a transaction of its own; true if the same piece has more to do. Called by hand in a transaction that stays
-- open, it delays what it took and nothing else.
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
    v_now timestamptz := pawl.now();
    v_tenant text := pawl._bound_tenant();
begin
    perform pawl._only_read_committed('tick');
    if p_piece between 1 and 4 then
        -- guard:tick_tenant
        return pawl._do_piece((array['timers', 'sessions', 'limits', 'deliveries'])[p_piece], v_now, 100, v_tenant)
            -- A page is of one delivery, and others may be due.
            >= case when p_piece = 4 then 1 else 100 end;
    end if;
    -- guard:tick_chores
    return v_tenant is null and pawl._do_chore(v_now, false);
end
$$;
comment on function pawl._tick_piece(int) is 'one piece of a tick';

-- What only the owner of the schema does; no role is ever granted this.
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

-- With the rights and the settings of its caller, because no other procedure may commit; so every name is qualified, and there is nothing
-- in it but transactions and calls of pieces.
create or replace procedure pawl.tick(force boolean default false)
language plpgsql
as $$
declare
    v_pieces int[];
    v_piece int;
begin
    -- Said as every other write says it, so that a client leaves this server: read write below would fail with 0A000.
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
            -- Next to each other: even a loop's bounds are a query.
            commit;
            set transaction isolation level read committed, read write;
            exit when not pawl._tick_piece(v_piece);
        end loop;
    end loop;
    if v_piece = 5 and pg_catalog.has_function_privilege('pawl._tick_tables()', 'execute') then
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
'Housekeeping, if it is due (about every 100 ms for the whole database), or with force in any case: due timers, sessions whose lease has expired, time limits, deliveries of events, and the chores: partitions ahead, retention, old keys, topics and sessions, metrics. It commits after each piece, and raises in a transaction block before it has done anything: call it alone, with autocommit. libpawl''s workers and pawl keeper do so; a worker in SQL calls it when claim or heartbeat answers tick_due. A role that is bound to a tenant does this for its own tenant only, and no chores. Only a role with the privileges of the schema''s owner removes empty tables, for which others wait up to 20 ms.
If repeated: does the remaining work.
Locks: rows, skipping locked ones; of a day past its retention its tables; each for the time of one piece.
Errors: 2D000 it was called in a transaction block, or in a pipeline after another statement, 25006 the server is a standby.
Limits: 500 timers, 500 tasks of lost sessions, 500 limits, 5 pages of 100 waits, 5 chores.';

-- Waiting tasks whose time has come. due_at becomes the time they got ready, so that a claim that looks
-- from a mark onwards finds them.
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

-- Due tasks of one tenant, locked. Nothing lists these by tenant: such an index would cost every run that waits. So both ends of what is
-- due are looked at, 5,000 tasks each: those of other tenants are many only if nobody ticks for these, and what comes due while this
-- tenant's workers tick is at the end.
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
        -- By their addresses alone, and looked at under the lock: the planner may take the index of all that wait otherwise.
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

-- Whether no session that is not bound to a tenant has ticked for a minute: the chore that is due every ten seconds tells. Timers, lost
-- sessions and limits of tenants without a worker of their own then wait, and so do all chores.
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
    v_now timestamptz := pawl.now();
begin
    perform pawl._only_read_committed('housekeep');
    perform pawl._only_unbound('housekeep');
    perform pawl._do_piece('timers', v_now, 500, null);
    perform pawl._do_piece('sessions', v_now, 500, null);
    perform pawl._do_piece('limits', v_now, 100, null);
    perform pawl._do_piece('deliveries', v_now, 500, null);
    for v_n in 1..10 loop
        exit when not pawl._do_chore(v_now, false);
    end loop;
end
$$;
comment on function pawl.housekeep() is
'The work of tick() as a function, for operators, tests and a cron job that cannot send call: due timers, lost sessions, time limits, deliveries and chores, in the caller''s transaction. The rows that it changes, and the tables of a day that it empties, stay locked until that ends, so call it alone. It removes no table. A role that is bound to a tenant calls tick() instead.
If repeated: does the remaining work.
Locks: rows, skipping locked ones; of a day past its retention its tables.
Errors: PW007 the role is bound to one tenant, PW008 isolation level.
Limits: 500 timers, 500 tasks of 10 lost sessions, 100 limits, a page of 500 waits, 10 chores.';
