-- SPDX-License-Identifier: Apache-2.0
-- What bench/engine needs in its database: tables filled by SQL, as if the runs had been run, and a look at costs.
-- Made by a superuser in a scratch database; nothing in the product uses it.
create schema bench;
create extension pg_walinspect with schema bench;

-- An id of that time, unique by n.
create function bench.id(at timestamptz, n bigint)
returns uuid
language sql
immutable
return (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid;

create function bench.payload()
returns json
language sql
immutable
return ('{"pad":"' || repeat('x', 60) || '"}')::json;

create function bench.queue(p_workflow text)
returns int
language sql
stable
return (select w.queue_id from pawl_data.workflow w where w.name = p_workflow);

-- Ended runs of one day, from number p_from on.
create function bench.fill_runs(p_day date, p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, session_id, triggered_at, started_at,
                          ended_at, rolled_back, input_apart, tenant, input, output)
    select bench.id(p_day::timestamp at time zone 'UTC' + n * interval '1 ms', n), 1, 's', 100, bench.queue('bench.run'), 1, 1,
           4294967297, p_day, p_day, p_day, false, false, '', bench.payload(), bench.payload()
    from generate_series(p_from, p_from + p_count - 1) n;
$$;

create function bench.fill_steps(p_day date, p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
    select bench.id(p_day::timestamp at time zone 'UTC' + n * interval '1 ms', n), 0, 1, 's', 's', 0, 1, 1, p_day, p_day,
           'step0#1', bench.payload()
    from generate_series(p_from, p_from + p_count - 1) n;
$$;

create function bench.fill_events(p_day date, p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.event (event_id, emitted_at, tenant, topic, key, payload)
    select bench.id(p_day::timestamp at time zone 'UTC' + n * interval '1 ms', n), p_day, '', 'topic' || n % 1000, '',
           bench.payload()
    from generate_series(p_from, p_from + p_count - 1) n;
$$;

-- Rows of the tables that hang on a run and are seldom written.
create function bench.fill_trail(p_day date, p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.audit (run_id, audit_no, task_no, at, what)
    select bench.id(p_day::timestamp at time zone 'UTC' + n * interval '1 ms', n), n, 0, p_day, 'filled'
    from generate_series(p_from, p_from + p_count - 1) n;
    insert into pawl_data.note (run_id, note_no, task_no, at, kind, body)
    select bench.id(p_day::timestamp at time zone 'UTC' + n * interval '1 ms', n), n, 0, p_day, 'log', 'filled'
    from generate_series(p_from, p_from + p_count - 1) n;
    insert into pawl_data.input (run_id, input)
    select bench.id(p_day::timestamp at time zone 'UTC' + n * interval '1 ms', n), bench.payload()
    from generate_series(p_from, p_from + p_count - 1) n;
$$;

-- Runs that wait until p_due and a little more each.
create function bench.fill_waiting(p_reason text, p_at timestamptz, p_due timestamptz, p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.task (run_id, task_no, queue_id, place, priority, execution, fence, recorded, attached, reason, due_at,
                           triggered_at, tenant, input)
    select bench.id(p_at, n), 0, bench.queue('bench.run'), 'w', 100, 1, 1, p_reason <> 'delay', p_reason <> 'delay', p_reason,
           p_due + n * interval '1 ms', p_at, '', bench.payload()
    from generate_series(p_from, p_from + p_count - 1) n;
$$;

-- Their waits: each for an event of one topic that has its own number under /id. The digest is the one that
-- pawl._match_digest makes, written out because a million calls take their time; the last statement checks it.
create function bench.fill_waits(p_topic text, p_at timestamptz, p_due timestamptz, p_from bigint, p_count bigint)
returns void
language plpgsql
as $$
begin
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, match, created_at, due_at)
    select bench.id(p_at, n), 0, 'waits#1', 'e', 1, '', p_topic, '',
           sha256(convert_to('/id' || chr(10) || n, 'UTF8')), json_build_object('/id', n), p_at, p_due
    from generate_series(p_from, p_from + p_count - 1) n;
    insert into pawl_data.topic (tenant, topic, key, touched_at, path_sets)
    values ('', p_topic, '', now(), array['/id'])
    on conflict do nothing;
    if exists (
        select from pawl_data.wait w where w.run_id = bench.id(p_at, p_from) and w.digest <> pawl._match_digest(w.match)) then
        raise exception 'bench.fill_waits makes other digests than pawl';
    end if;
end
$$;

-- What a search must find in spite of newer runs: a run with a key and a tag, and one failure in a thousand of a hundred thousand runs; then p_newer
-- runs that succeeded. All within the last hour.
create function bench.fill_searched(p_newer bigint)
returns void
language sql
as $$
    select from pawl.trigger('bench.run', '{}', key => 'wanted', id => bench.id(now() - interval '50 min', 1), tags => array['wanted']);
    insert into pawl_data.run (run_id, round, status, priority, queue_id, fence, execution, session_id, triggered_at, started_at,
                          ended_at, rolled_back, input_apart, tenant, input, output)
    select bench.id(n.at, n.n), 1, n.status, 100, bench.queue('bench.run'), 1, 1, 4294967297, n.at, n.at, n.at, false, false, '',
           bench.payload(), bench.payload()
    from (
        select now() - interval '45 min' + n * interval '1 ms', n, case when n % 1000 = 0 then 'e'::"char" else 's' end
        from generate_series(1, 100000) n
        union all
        select now() - interval '40 min' + n * interval '1 us', n, 's' from generate_series(1, p_newer) n
    ) n (at, n, status);
    insert into pawl_data.tag (run_id, tenant, tag)
    select bench.id(now() - interval '40 min' + n * interval '1 us', n), '', t
    from generate_series(1, p_newer) n, unnest(array['newer', 'number=' || n]) t;
$$;

create function bench.fill_keys(p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.key (workflow_id, run_id, tenant, key, digest)
    select w.workflow_id, bench.id(now(), n), '', 'filled:' || n, sha256('{}')
    from generate_series(p_from, p_from + p_count - 1) n, pawl_data.workflow w
    where w.name = 'bench.run';
$$;

create function bench.fill_signals(p_at timestamptz, p_from bigint, p_count bigint)
returns void
language sql
as $$
    insert into pawl_data.signal (run_id, name, sent_at, sent_by, payload)
    select bench.id(p_at, n), 'filled', now(), 'bench', '{}'
    from generate_series(p_from, p_from + p_count - 1) n;
    insert into pawl_data.topic (tenant, topic, key, touched_at)
    select '', 'filled' || n, '', now() from generate_series(p_from, p_from + p_count - 1) n;
$$;

-- Buffers that a statement touches, with all that happens inside it.
create function bench.buffers(p_statement text)
returns bigint
language plpgsql
as $$
declare
    v_plan json;
begin
    execute 'explain (analyze, buffers, timing off, summary off, format json) ' || p_statement into v_plan;
    return (v_plan -> 0 -> 'Plan' ->> 'Shared Hit Blocks')::bigint + (v_plan -> 0 -> 'Plan' ->> 'Shared Read Blocks')::bigint;
end
$$;

-- Counts, in a trigger of a table, the relations that the session has locked in the middle of a statement: those of the indexes that it writes are
-- unlocked when the statement ends.
create function bench.note_locks()
returns trigger
language plpgsql
as $$
begin
    perform set_config('bench.locks', greatest(
        nullif(current_setting('bench.locks', true), '')::bigint,
        (select count(distinct l.relation) from pg_locks l
         where l.pid = pg_backend_pid() and l.locktype = 'relation' and l.relation <> 'pg_locks'::regclass))::text, false);
    return null;
end
$$;

create function bench.watch_locks(p_on boolean)
returns void
language plpgsql
as $$
declare
    v_table regclass;
begin
    for v_table in
        select c.oid from pg_class c where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    loop
        if p_on then
            execute format('create trigger note_locks after insert or update or delete on %s for each row execute function bench.note_locks()', v_table);
        else
            execute format('drop trigger note_locks on %s', v_table);
        end if;
    end loop;
end
$$;

-- The least of some calls: the first ones fill caches, and others may be disturbed.
create function bench.least_buffers(p_statement text)
returns bigint
language sql
as $$
    select min(bench.buffers(p_statement)) from generate_series(1, 8)
$$;

-- The next claim or heartbeat does its housekeeping, or it does none for some seconds. Slow chores are not due either way.
create function bench.set_tick(p_due boolean)
returns void
language sql
as $$
    update pawl_data.chore set due_at = now() + interval '1 hour' where due_at < now() + interval '30 min';
    select setval('pawl_data.housekeeping_clock',
        case when p_due then 0 else (date_part('epoch', clock_timestamp()) * 1000000)::bigint + 5000000 end);
$$;
