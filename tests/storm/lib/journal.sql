-- SPDX-License-Identifier: Apache-2.0
-- A journal of everything that is committed for a run, written by the database itself: what was rolled back is not in it, and it does not
-- matter who was told. The verbs move to another schema, and functions of the same name and signature call them and write down what
-- they answered; so do those parts of housekeeping that change runs. tests/oracle/lib/oracle.sql is there already.
--
-- The number of an entry is drawn after the call that it tells of, while the locks of that are held: what two calls did to one run is
-- in the order in which they had its lock.

create schema journal;

create sequence journal.number;

create table journal.entry (
    n bigint not null,
    item int not null default 0,
    xid xid8 not null default pg_current_xact_id(),
    -- What was committed when the call began.
    seen pg_snapshot not null,
    -- The time that the call went by, in microseconds.
    at bigint not null,
    what text not null,
    session bigint,
    run uuid,
    args json not null default '{}',
    payload text,
    answer text,
    value json,
    -- What a claim handed out.
    told text,
    -- The run's hot row and what hangs on it, afterwards; only where the call has locked it.
    image text,
    primary key (n, item)
);

create function journal.us(at timestamptz)
returns bigint
language sql
stable
as $$
    select (extract(epoch from at) * 1000000)::bigint
$$;

-- The clock: the first time that a call reads is the one that it goes by.
alter function pawl.now() set schema journal;
create function pawl.now()
returns timestamptz
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := journal.now();
begin
    if coalesce(current_setting('journal.at', true), '') = '' then
        perform set_config('journal.at', journal.us(v_now)::text, true);
    end if;
    return v_now;
end
$$;

-- Its body is parsed, so it still calls the function that has moved.
create or replace function pawl._write_time()
returns timestamptz
language sql
volatile
return case when pg_current_xact_id() is not null then pawl.now() end;

create function journal.start()
returns pg_snapshot
language plpgsql
volatile
as $$
begin
    perform set_config('journal.at', '', true);
    return set_config('journal.seen', pg_current_snapshot()::text, true)::pg_snapshot;
end
$$;

create function journal.at()
returns bigint
language sql
stable
as $$
    select current_setting('journal.at')::bigint
$$;

-- What housekeeping is at; '' if nothing.
create function journal.doing()
returns text
language sql
stable
as $$
    select coalesce(current_setting('journal.doing', true), '')
$$;

-- Something that a call does by the way, of the time that it goes by itself.
create function journal.put(p_what text, p_now timestamptz, p_session bigint, p_run uuid, p_args json, p_answer text, p_image text)
returns void
language plpgsql
volatile
as $$
begin
    insert into journal.entry (n, seen, at, what, session, run, args, answer, image)
    values (nextval('journal.number'), current_setting('journal.seen')::pg_snapshot, journal.us(p_now), p_what, p_session, p_run, p_args, p_answer, p_image);
end
$$;

-- Callers.

alter function pawl.trigger set schema journal;
create function pawl.trigger(
    workflow text, input json default '{}', key text default null, tenant text default '', priority int default null,
    delay interval default null, metadata json default null, id uuid default null, key_ttl interval default null,
    key_while_active boolean default false, limit_key text default null, id_is_new boolean default false, tags text[] default null,
    expires interval default null, replace boolean default false, debounce interval default null, debounce_max interval default null)
returns table (run_id uuid, created boolean, handled boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen pg_snapshot := journal.start();
begin
    select t.run_id, t.created, t.handled into run_id, created, handled
    from journal.trigger(workflow, input, key, tenant, priority, delay, metadata, id, key_ttl, key_while_active, limit_key, id_is_new, tags,
             expires, replace, debounce, debounce_max) t;
    insert into journal.entry (n, seen, at, what, run, args, payload, answer, image)
    values (nextval('journal.number'), v_seen, journal.at(), 'trigger', run_id,
        json_build_object('workflow', workflow, 'key', key, 'tenant', tenant, 'priority', priority, 'id', id),
        input::text, case when created then 'created' else 'existing' end, case when created then oracle.show_task(run_id) end);
    return next;
end
$$;

-- One by one, so that each run has its entry; suite oracle compares the set-wise form with this one.
alter function pawl.trigger_many set schema journal;
create function pawl.trigger_many(
    workflow text, inputs json[], keys text[] default null, tenant text default '', priority int default null,
    delay interval default null, metadata json default null, ids uuid[] default null, key_ttl interval default null,
    key_while_active boolean default false, limit_keys text[] default null, ids_are_new boolean default false, tags text[] default null,
    expires interval default null)
returns table (item int, run_id uuid, created boolean, handled boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select i.item::int, t.run_id, t.created, t.handled
    from (
        select u.*
        from unnest(inputs, keys, ids, limit_keys) with ordinality u (input, key, id, limit_key, item)
        order by u.key, u.id, u.item
        offset 0
    ) i
    cross join lateral pawl.trigger(workflow, i.input, i.key, tenant, priority, delay, metadata, i.id, key_ttl, key_while_active, i.limit_key, ids_are_new, tags, expires) t
    order by i.item;
end
$$;

alter function pawl.emit set schema journal;
create function pawl.emit(topic text, payload json default '{}', key text default '', tenant text default '', id uuid default null)
returns table (event_id uuid, answer text, woken int)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen pg_snapshot := journal.start();
begin
    select e.event_id, e.answer, e.woken into event_id, answer, woken from journal.emit(topic, payload, key, tenant, id) e;
    insert into journal.entry (n, seen, at, what, args, payload, answer)
    values (nextval('journal.number'), v_seen, journal.at(), 'emit',
        json_build_object('topic', topic, 'key', key, 'tenant', tenant, 'id', id, 'made', event_id, 'woken', woken), payload::text, answer);
    return next;
end
$$;

alter function pawl.signal set schema journal;
create function pawl.signal(run uuid, name text, payload json default '{}')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_seen pg_snapshot := journal.start();
    v_answer text := journal.signal(run, name, payload);
begin
    insert into journal.entry (n, seen, at, what, run, args, payload, answer, image)
    values (nextval('journal.number'), v_seen, journal.at(), 'signal', signal.run, json_build_object('name', name), payload::text,
        v_answer, oracle.show_task(run));
    return v_answer;
end
$$;

alter function pawl.cancel set schema journal;
create function pawl.cancel(runs uuid[], why text default null, rollback boolean default false, by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen pg_snapshot := journal.start();
begin
    for run_id, answer in select c.run_id, c.answer from journal.cancel(runs, why, rollback, by) c loop
        insert into journal.entry (n, seen, at, what, run, args, answer, image)
        values (nextval('journal.number'), v_seen, journal.at(), 'cancel', run_id,
            json_build_object('why', why, 'rollback', rollback, 'by', coalesce(by, pawl._caller())), answer,
            case when answer = 'ok' then oracle.show_task(run_id) end);
        return next;
    end loop;
end
$$;

alter function pawl.retry set schema journal;
create function pawl.retry(runs uuid[], by text default null)
returns table (run_id uuid, answer text)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen pg_snapshot := journal.start();
begin
    for run_id, answer in select r.run_id, r.answer from journal.retry(runs, by) r loop
        insert into journal.entry (n, seen, at, what, run, args, answer, image)
        values (nextval('journal.number'), v_seen, journal.at(), 'retry', run_id, json_build_object('by', coalesce(by, pawl._caller())),
            answer, case when answer = 'ok' then oracle.show_task(run_id) end);
        return next;
    end loop;
end
$$;

-- Workers.

alter function pawl.claim set schema journal;
create function pawl.claim(
    session bigint, max_tasks int default 1, request int default null, start boolean default true, quiet boolean default false)
returns table (
    run_id uuid, task int, fence int, workflow text, round int, execution int, tenant text, triggered_at timestamptz,
    rolling_back boolean, suspect boolean, input json, metadata json, record json, step_timeout_ms bigint,
    run_timeout_ms bigint, tick_due boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen pg_snapshot := journal.start();
    v_runs uuid[] := '{}';
    v_told text[] := '{}';
begin
    for run_id, task, fence, workflow, round, execution, tenant, triggered_at, rolling_back, suspect, input, metadata, record,
        step_timeout_ms, run_timeout_ms, tick_due in select c.* from journal.claim(session, max_tasks, request, start, quiet) c
    loop
        -- Of a flow only the run itself has a record like this, and nobody reads it.
        v_runs := v_runs || run_id;
        v_told := v_told || case when task = 0 then concat_ws(' ', run_id || '/0', fence, workflow, round, execution, '''' || tenant || '''',
            rolling_back, suspect, input::jsonb, coalesce(metadata::jsonb, 'null'), coalesce(step_timeout_ms, -1),
            coalesce(run_timeout_ms, -1)) || e'\n' || oracle.record(record, rolling_back) end;
        return next;
    end loop;
    if cardinality(v_runs) = 0 then
        return;
    end if;
    insert into journal.entry (n, item, seen, at, what, session, run, args, told, image)
    select k.n, c.item, v_seen, journal.at(), 'claim', session, c.run_id,
           json_build_object('most', max_tasks, 'request', request, 'start', start is not false, 'quiet', coalesce(quiet, false),
               'count', cardinality(v_runs)),
           c.told,
           -- A claim whose reply was lost, made again, has locked nothing.
           (select oracle.show_task(c.run_id) from pawl_data.task t
            where t.run_id = c.run_id and t.task_no = 0 and journal.us(t.claimed_at) = journal.at())
    from nextval('journal.number') k (n), unnest(v_runs, v_told) with ordinality c (run_id, told, item)
    where c.told is not null;
end
$$;

-- A claim reads the clock again before it settles what is over, and keeps that also if it is given nothing in the end.
alter function pawl._settle_due set schema journal;
create function pawl._settle_due(p_ids uuid[], p_tasks int[], p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_due pawl_data.wait[] := array(
        select w from pawl_data.wait w where w.run_id = any (p_ids) and w.task_no = 0 and w.kind <> 'l' and w.due_at <= p_now);
    v_wait pawl_data.wait;
begin
    perform journal._settle_due(p_ids, p_tasks, p_now);
    foreach v_wait in array v_due loop
        if not exists (select from pawl_data.wait w where w.run_id = v_wait.run_id and w.task_no = 0 and w.name = v_wait.name) then
            perform journal.put('due', p_now, null, v_wait.run_id, json_build_object('name', v_wait.name), null, null);
        end if;
    end loop;
end
$$;

create function journal.put_items(
    p_seen pg_snapshot, p_session bigint, p_runs uuid[], p_fences int[], p_kinds text[], p_names text[], p_payloads text[], p_seqs int[],
    p_tasks int[], p_millis int[], p_options text[], p_answers text[], p_values json[])
returns void
language sql
volatile
as $$
    insert into journal.entry (n, item, seen, at, what, session, run, args, payload, answer, value, image)
    select k.n, i.item, p_seen, journal.at(), 'item', p_session, i.run_id,
           json_build_object('fence', i.fence, 'kind', i.kind, 'name', i.name, 'seq', i.seq, 'millis', i.millis, 'option', i.option::json,
               -- What the engine chose.
               'due', (select journal.us((t.retries -> case when i.kind = 'retry' then i.name else '' end ->> 'due')::timestamptz)
                       from pawl_data.task t where i.kind in ('retry', 'fail') and t.run_id = i.run_id and t.task_no = 0),
               'reason', (select t.reason from pawl_data.task t where i.kind = 'suspend' and t.run_id = i.run_id and t.task_no = 0),
               'event', (select s.source_id from pawl_data.step s where i.kind = 'event' and s.run_id = i.run_id and s.name = i.name
                         order by s.round desc limit 1)),
           i.payload, i.answer, i.value,
           -- Only while the row is locked: it may have changed otherwise since the answer was found.
           case when i.answer = 'ok' and i.item = max(i.item) over (partition by i.run_id) then oracle.show_task(i.run_id) end
    from nextval('journal.number') k (n),
         unnest(p_runs, p_fences, p_kinds, p_names, p_payloads, p_seqs, p_tasks, p_millis, p_options, p_answers, p_values)
             with ordinality i (run_id, fence, kind, name, payload, seq, task, millis, option, answer, value, item)
    where coalesce(i.task, 0) = 0
$$;

-- Both forms of commit alike.
do $do$
declare
    v_form text;
begin
    foreach v_form in array array['commit', 'commit_each'] loop
        execute format('alter function pawl.%I set schema journal', v_form);
        execute format($form$
create function pawl.%1$I(
    session bigint, runs uuid[], fences int[], kinds text[], names text[] default null, payloads text[] default null,
    seqs int[] default null, tasks int[] default null, millis int[] default null, options text[] default null)
returns table (item int, answer text, reason text, value json)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
    v_seen pg_snapshot := journal.start();
    v_answers text[] := '{}';
    v_values json[] := '{}';
begin
    for item, answer, reason, value in
        select c.item, c.answer, c.reason, c.value
        from journal.%1$I(session, runs, fences, kinds, names, payloads, seqs, tasks, millis, options) c
    loop
        v_answers[item] := answer;
        v_values[item] := value;
        return next;
    end loop;
    perform journal.put_items(v_seen, session, runs, fences, kinds, names, payloads, seqs, tasks, millis, options, v_answers, v_values);
end
$body$
$form$, v_form);
    end loop;
end
$do$;

alter function pawl.record_step set schema journal;
create function pawl.record_step(token text, output json default 'null')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_seen pg_snapshot := journal.start();
    v_answer text := journal.record_step(token, output);
    v_part text[] := string_to_array(token, ' ');
begin
    if v_part[3] = '0' then
        insert into journal.entry (n, seen, at, what, session, run, args, payload, answer, image)
        values (nextval('journal.number'), v_seen, journal.at(), 'record', v_part[4]::bigint, v_part[2]::uuid,
            json_build_object('fence', v_part[5]::int, 'name', v_part[7], 'seq', nullif(v_part[6], '-')::int), output::text, v_answer,
            oracle.show_task(v_part[2]::uuid));
    end if;
    return v_answer;
end
$$;

-- Of the others it matters when they began.

alter function pawl.register set schema journal;
create function pawl.register(
    name text, handles text[], runtimes text[] default '{}', lease interval default '30 s', protocol int default 1,
    client text default '', version text default null)
returns table (session bigint, epoch int, heartbeat_every interval, queues int)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal.start();
    return query select r.* from journal.register(name, handles, runtimes, lease, protocol, client, version) r;
end
$$;

alter function pawl.heartbeat set schema journal;
create function pawl.heartbeat(session bigint, running json default null, starved boolean default null)
returns table (epoch int, lease_until timestamptz, run_id uuid, task int, notice text, tick_due boolean)
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal.start();
    return query select h.* from journal.heartbeat(session, running, starved) h;
end
$$;

alter function pawl.leave set schema journal;
create function pawl.leave(session bigint)
returns int
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal.start();
    return journal.leave(session);
end
$$;

alter function pawl.housekeep set schema journal;
create function pawl.housekeep()
returns void
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal.start();
    perform journal.housekeep();
end
$$;

-- Each piece of a tick is a transaction of its own.
alter function pawl._tick_piece set schema journal;
create function pawl._tick_piece(p_piece int)
returns boolean
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal.start();
    return journal._tick_piece(p_piece);
end
$$;

-- Sessions: their row tells all that concerns runs.

create function journal.see_worker()
returns trigger
language plpgsql
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    if tg_op = 'INSERT' then
        perform journal.put('register', new.lease_until - new.lease, new.session_id, null,
            json_build_object('name', new.name, 'handles', new.handles, 'lease', journal.us(new.lease_until) - journal.us(new.lease_until - new.lease)),
            null, null);
    elsif new.ended_at is not null and old.ended_at is null then
        perform journal.put('ended', new.ended_at, new.session_id, null, '{}', new.ended_why, null);
    elsif new.lease_until <> old.lease_until then
        perform journal.put('lease', new.lease_until - new.lease, new.session_id, null, '{}', null, null);
    end if;
    return null;
end
$$;
create trigger journal after insert or update on pawl_data.worker for each row execute function journal.see_worker();

-- Housekeeping.

create function journal.see_promoted()
returns trigger
language plpgsql
security definer
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal.put('promote', new.due_at, null, new.run_id, '{}', null, oracle.show_task(new.run_id));
    return null;
end
$$;
create trigger journal after update on pawl_data.task for each row
    when (old.place = 'w' and new.place in ('r', 's') and new.task_no = 0 and current_setting('journal.doing', true) = 'promote')
    execute function journal.see_promoted();

alter function pawl._promote set schema journal;
create function pawl._promote(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_count int;
begin
    perform set_config('journal.doing', 'promote', true);
    v_count := journal._promote(p_now, p_max, p_tenant, p_each);
    perform set_config('journal.doing', '', true);
    return v_count;
end
$$;

alter function pawl._take_back set schema journal;
create function pawl._take_back(p_task pawl_data.task, p_now timestamptz, p_crashed boolean, p_ends boolean)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    perform journal._take_back(p_task, p_now, p_crashed, p_ends);
    if p_task.task_no = 0 then
        perform journal.put('take_back', p_now, p_task.session_id, p_task.run_id, json_build_object('crashed', p_crashed), null,
            oracle.show_task(p_task.run_id));
    end if;
end
$$;

alter function pawl._enforce_limits set schema journal;
create function pawl._enforce_limits(p_now timestamptz, p_max int, p_tenant text, p_each boolean)
returns int
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_count int;
begin
    perform set_config('journal.doing', 'limits', true);
    v_count := journal._enforce_limits(p_now, p_max, p_tenant, p_each);
    perform set_config('journal.doing', '', true);
    return v_count;
end
$$;

-- The row of a limit goes after this, so there is no image.
alter function pawl._cancel_task set schema journal;
create function pawl._cancel_task(p_task pawl_data.task, p_now timestamptz, p_by text, p_why text, p_rollback boolean)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_doing text := journal.doing();
    v_answer text;
begin
    perform set_config('journal.doing', 'cancel', true);
    v_answer := journal._cancel_task(p_task, p_now, p_by, p_why, p_rollback);
    perform set_config('journal.doing', v_doing, true);
    if v_doing = 'limits' then
        perform journal.put('limit', p_now, null, p_task.run_id, json_build_object('name', 'cancel'), v_answer, null);
    end if;
    return v_answer;
end
$$;

alter function pawl._end_or_roll_back set schema journal;
create function pawl._end_or_roll_back(p_task pawl_data.task, p_status "char", p_error json, p_rollback boolean, p_now timestamptz)
returns text
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_answer text := journal._end_or_roll_back(p_task, p_status, p_error, p_rollback, p_now);
begin
    if journal.doing() = 'limits' then
        perform journal.put('limit', p_now, null, p_task.run_id,
            json_build_object('name', case when p_status = 'c' then 'grace' else 'timeout' end), v_answer, null);
    end if;
    return v_answer;
end
$$;

-- Whoever could call the verbs can call these, and they have the rights of the same owner.
do $$
declare
    v_pair record;
begin
    execute format('alter schema journal owner to %I', (select p.proowner::regrole::text from pg_proc p where p.oid = 'journal.claim'::regproc));
    for v_pair in
        select i.oid as inner_oid, i.proowner::regrole::text as owner, i.proacl, o.oid
        from pg_proc i
        join pg_proc o on o.proname = i.proname and o.proargtypes = i.proargtypes and o.pronamespace = 'pawl'::regnamespace
        where i.pronamespace = 'journal'::regnamespace
    loop
        execute format('alter function %s owner to %s', v_pair.oid::regprocedure, v_pair.owner);
        update pg_proc p set proacl = v_pair.proacl where p.oid = v_pair.oid;
    end loop;
    execute format('alter table journal.entry owner to %s', (select p.proowner::regrole from pg_proc p where p.oid = 'journal.claim'::regproc));
    execute format('alter sequence journal.number owner to %s', (select p.proowner::regrole from pg_proc p where p.oid = 'journal.claim'::regproc));
    execute format('grant usage on schema oracle to %s', (select p.proowner::regrole from pg_proc p where p.oid = 'journal.claim'::regproc));
end
$$;
