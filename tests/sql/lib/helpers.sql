-- SPDX-License-Identifier: Apache-2.0
-- Helpers of the pgTAP tests, in schema t. Loaded into the template after pawl.sql, so every test has them.
--
-- The first of these helpers that a test calls stops the clock (sql/test/clock.sql); from then on only t.later() and
-- pawl.test_clock_advance() move it. Databases of other suites, which call none of them, have a clock that runs.

-- The owner of pawl replaces pawl.now(), so the clock's row must be his.
set role pawl_owner;
\ir ../../../sql/test/clock.sql
select pawl.test_clock_set(null);
reset role;

create schema t;

create function t.stop_clock()
returns void
language sql
as $$
    update pawl_data.test_clock set at = clock_timestamp() where at is null
$$;
comment on function t.stop_clock() is 'from now on time stands still until it is moved';

-- Registers a worker session that handles everything, or what it is told.
create function t.session(handles text[] default '{*}', lease interval default '30 s', name text default 'worker',
                          runtimes text[] default '{}')
returns bigint
language sql
as $$
    select t.stop_clock();
    select r.session from pawl.register(name, handles, runtimes, lease) r
$$;
comment on function t.session(text[], interval, text, text[]) is 'a new worker session';

-- Creates the workflow with default options if there is none, and triggers a run.
create function t.run(workflow text default 'test.flow', input json default '{}', key text default null)
returns uuid
language plpgsql
as $$
begin
    perform t.stop_clock();
    perform pawl.create_workflow(workflow);
    return (select r.run_id from pawl.trigger(workflow, input, key) r);
end
$$;
comment on function t.run(text, json, text) is 'a new run, of a workflow that need not exist';

-- Claims exactly one task and returns it: select run_id, fence, record from t.one(:session) \gset
create function t.one(session bigint, start boolean default true, quiet boolean default false)
returns table (run_id uuid, task int, fence int, workflow text, round int, execution int, tenant text,
               triggered_at timestamptz, rolling_back boolean, suspect boolean, input json, metadata json, record json,
               step_timeout_ms bigint, run_timeout_ms bigint)
language plpgsql
as $$
declare
    v_count int;
begin
    return query
    select c.run_id, c.task, c.fence, c.workflow, c.round, c.execution, c.tenant, c.triggered_at, c.rolling_back, c.suspect,
           c.input, c.metadata, c.record, c.step_timeout_ms, c.run_timeout_ms
    from pawl.claim(session, 1, start => start, quiet => quiet) c;
    get diagnostics v_count = row_count;
    if v_count <> 1 then
        raise exception 'nothing to claim';
    end if;
end
$$;
comment on function t.one(bigint, boolean, boolean) is 'claims one task, or fails';

-- Triggers a run and has the session claim it; the session must not handle anything else that is ready.
create function t.held(session bigint, workflow text default 'test.flow', input json default '{}', out run_id uuid, out fence int)
language plpgsql
as $$
declare
    v_run uuid := t.run(workflow, input);
begin
    select o.run_id, o.fence into run_id, fence from t.one(session) o;
    if run_id <> v_run then
        raise exception 'claimed another run';
    end if;
end
$$;
comment on function t.held(bigint, text, json) is 'a new run that the session holds';

-- One item through commit: its answer, reason and value.
create function t.item(session bigint, run uuid, fence int, kind text, name text default null, payload text default null,
                       option json default null, seq int default null)
returns table (answer text, reason text, value json)
language sql
as $$
    select c.answer, c.reason, c.value
    from pawl.commit(session, array[run], array[fence], array[kind], array[name], array[payload], array[seq], null, null,
                     array[option::text]) c
$$;
comment on function t.item(bigint, uuid, int, text, text, text, json, int) is 'commits one item';

-- The same, when only the answer matters.
create function t.answer(session bigint, run uuid, fence int, kind text, name text default null, payload text default null,
                         option json default null, seq int default null)
returns text
language sql
as $$
    select i.answer from t.item(session, run, fence, kind, name, payload, option, seq) i
$$;
comment on function t.answer(bigint, uuid, int, text, text, text, json, int) is 'the answer to one committed item';

-- Many items at once: [{"run", "fence", "kind", "name", "payload", "option", "seq", "millis"}, ...]. payload is a text,
-- so that it may be no JSON. Answers in the order of the items, with a space between: 'ok ok lease_lost'.
create function t.answers(session bigint, items json, each boolean default false)
returns text
language plpgsql
as $$
declare
    v record;
begin
    select array_agg((i ->> 'run')::uuid order by n) as runs, array_agg((i ->> 'fence')::int order by n) as fences,
           array_agg(i ->> 'kind' order by n) as kinds, array_agg(i ->> 'name' order by n) as names,
           array_agg(i ->> 'payload' order by n) as payloads, array_agg((i ->> 'seq')::int order by n) as seqs,
           array_agg((i ->> 'millis')::int order by n) as millis, array_agg((i -> 'option')::text order by n) as options
    into v
    from json_array_elements(items) with ordinality e (i, n);
    if each then
        return (select string_agg(c.answer, ' ' order by c.item)
                from pawl.commit_each(session, v.runs, v.fences, v.kinds, v.names, v.payloads, v.seqs, null, v.millis, v.options) c);
    end if;
    return (select string_agg(c.answer, ' ' order by c.item)
            from pawl.commit(session, v.runs, v.fences, v.kinds, v.names, v.payloads, v.seqs, null, v.millis, v.options) c);
end
$$;
comment on function t.answers(bigint, json, boolean) is 'the answers to many committed items';

-- 'QUEUED', 'RUNNING', 'PAUSED retry', 'SUCCESS', …
create function t.state(run uuid)
returns text
language sql
as $$
    select concat_ws(' ', g.status, g.reason) from pawl.get_run(run) g
$$;
comment on function t.state(uuid) is 'the shown state of a run, and the reason if it is paused';

-- Moves the clock and does the housekeeping that is due then. keep: a session that sends a heartbeat then and so lives on.
create function t.later(by interval, keep bigint default null)
returns void
language plpgsql
as $$
begin
    perform t.stop_clock();
    perform pawl.test_clock_advance(by);
    if keep is not null then
        perform pawl.heartbeat(keep);
    end if;
    perform pawl.housekeep();
end
$$;
comment on function t.later(interval, bigint) is 'lets time pass';

-- What the audit says of a run, in order: 'attempt_failed lease_lost'. Empty for a plain one.
create function t.audit(run uuid)
returns text
language sql
as $$
    select coalesce(string_agg(a.what, ' ' order by a.audit_no), '')
    from (select * from pawl_data.audit union all select * from pawl_data.audit_kept) a
    where a.run_id = run
$$;
comment on function t.audit(uuid) is 'the audit rows of a run, by name';

-- Runs a statement in another session of this database and leaves its transaction open, with the locks it took;
-- t.other_done() rolls it back. For tests about what another transaction holds.
create extension dblink schema t;

create function t.other_holds(statement text)
returns void
language plpgsql
as $$
begin
    perform t.dblink_connect('other', format('host=%s port=%s user=%s dbname=%L',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user,
        current_database()));
    perform t.dblink_exec('other', 'begin');
    perform from t.dblink('other', statement) r (x text);
end
$$;
comment on function t.other_holds(text) is 'another session runs a query of one text column and keeps its transaction open';

create function t.other_done()
returns void
language plpgsql
as $$
begin
    perform t.dblink_exec('other', 'rollback');
    perform t.dblink_disconnect('other');
end
$$;
comment on function t.other_done() is 'rolls back what t.other_holds() did';

-- A flow from a list of steps, each with what it depends on: [["a"], ["b", "a"]].
create function t.flow(flow text, steps json)
returns void
language plpgsql
as $$
declare
    v_step json;
begin
    perform t.stop_clock();
    perform pawl.create_flow(flow);
    for v_step in select s from json_array_elements(steps) s loop
        perform pawl.add_step(flow, v_step ->> 0, array(select d from json_array_elements_text(v_step) with ordinality x (d, n) where n > 1 order by n));
    end loop;
end
$$;
comment on function t.flow(text, json) is 'defines a flow';

-- The task of a step, or of an element of a map step.
create function t.task_of(run uuid, step text, index int default null)
returns int
language sql
as $$
    select s.step_no * 1000000 + coalesce(index + 1, 0)
    from pawl_data.flow_step s
    join pawl_data.queue q on q.workflow_id = s.workflow_id
    where s.name = step
      and q.queue_id = coalesce((select t.queue_id from pawl_data.task t where t.run_id = run and t.task_no = 0),
                                (select r.queue_id from pawl_data.run r where r.run_id = run order by r.round desc limit 1))
$$;
comment on function t.task_of(uuid, text, int) is 'the number of a task of a flow';

-- Completes a task that the session holds, with the fence it has, or with one that is given.
create function t.done(session bigint, run uuid, step text, output text, index int default null, fence int default null)
returns text
language sql
as $$
    select c.answer
    from pawl.commit(session, array[run], array[coalesce(fence, (select t.fence from pawl_data.task t where t.run_id = run and t.task_no = t.task_of(run, step, index)), 1)],
                     '{complete}', null, array[output], null, array[t.task_of(run, step, index)]) c
$$;
comment on function t.done(bigint, uuid, text, text, int, int) is 'completes a task of a flow';

create function t.failed(session bigint, run uuid, step text, error text, index int default null)
returns text
language sql
as $$
    select c.answer
    from pawl.commit(session, array[run], array[coalesce((select t.fence from pawl_data.task t where t.run_id = run and t.task_no = t.task_of(run, step, index)), 1)],
                     '{fail}', null, array[error], null, array[t.task_of(run, step, index)]) c
$$;
comment on function t.failed(bigint, uuid, text, text, int) is 'fails a task of a flow';

-- Works until there is nothing to claim; each task yields the name of its step.
create function t.work(session bigint)
returns int
language plpgsql
as $$
declare
    v_task record;
    v_count int := 0;
    v_more boolean := true;
begin
    while v_more loop
        v_more := false;
        for v_task in select c.* from pawl.claim(session, 100) c loop
            perform pawl.complete(session, v_task.run_id, v_task.fence, to_json(split_part(v_task.workflow, '/', 2)), v_task.task);
            v_count := v_count + 1;
            v_more := true;
        end loop;
    end loop;
    return v_count;
end
$$;
comment on function t.work(bigint) is 'does all the work there is';

-- Loses p_times workers that hold the one task there is.
create function t.crash_out(keep bigint, times int)
returns int
language plpgsql
as $$
declare
    v_session bigint;
begin
    for v_n in 1..times loop
        v_session := t.session();
        perform pawl.claim(v_session, 10, quiet => true);
        perform t.later('31 s', keep);
    end loop;
    return times;
end
$$;
comment on function t.crash_out(bigint, int) is 'lets workers die with a task';

-- Another connection, which triggers and listens.
create function t.ear(name text default 'ear')
returns void
language sql
as $$
    select t.dblink_connect(name, format('host=%s port=%s user=%s dbname=%L',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_user, current_database()))
$$;
comment on function t.ear(text) is 'opens another connection';

-- The sessions that a statement of the other connection notified, in order. As if no worker had been notified just before.
create function t.rung(statement text, name text default 'ear')
returns text
language plpgsql
as $$
begin
    perform setval('pawl_data.bell_clock', 0);
    perform from t.dblink(name, statement) r (x text);
    return (select string_agg(n.notify_name, ' ' order by n.notify_name) from t.dblink_get_notify(name) n);
end
$$;
comment on function t.rung(text, text) is 'the channels that a statement notified';

-- A session that rests, and whose channel the other connection listens to.
create function t.rester(handles text[] default '{*}', lease interval default '30 s', name text default 'ear')
returns bigint
language plpgsql
as $$
declare
    v_session bigint := t.session(handles, lease);
begin
    perform pawl.rest(v_session);
    perform t.dblink_exec(name, format('listen "pawl_%s"', v_session));
    return v_session;
end
$$;
comment on function t.rester(text[], interval, text) is 'a session that rests, and is listened to';
-- Creates a workflow with a limit by key.
create function t.limited(workflow text, key_limit int)
returns void
language plpgsql
as $$
begin
    perform t.stop_clock();
    perform pawl.create_workflow(workflow);
    perform pawl.alter_workflow(workflow, json_build_object('key_limit', key_limit));
end
$$;
comment on function t.limited(text, int) is 'a workflow of which only so many runs with one limit key are held';

-- What is wrong with lanes: rows that fit no task, tasks without their row, more held than the limit, and lanes where a task waits,
-- though there is room, and that no claim would visit.
create function t.lane_faults()
returns text
language sql
as $$
    select coalesce(string_agg(f.fault, '; ' order by f.fault), 'none')
    from (
        select 'hold without a held task' as fault from pawl_data.lane_hold h
        where not exists (select from pawl_data.task t where t.run_id = h.run_id and t.task_no = h.task_no
                            and (t.place = 'h' or (select q.while_run from pawl_data.lane_queue q where q.queue_id = h.queue_id)))
        union all
        select 'held task without a hold' from pawl_data.task t
        where t.place = 'h' and t.lane is not null
          and not exists (select from pawl_data.lane_hold h where h.queue_id = t.queue_id and h.lane = t.lane and h.run_id = t.run_id)
        union all
        select 'row in line without its task' from pawl_data.lane_task w
        where not exists (select from pawl_data.task t
                          where t.run_id = w.run_id and t.task_no = w.task_no and t.place = 'l' and t.due_at = w.due_at)
        union all
        select 'task in a lane without its row' from pawl_data.task t
        where t.place = 'l'
          and (select count(*) from pawl_data.lane_task w
               where w.queue_id = t.queue_id and w.lane = t.lane and w.priority = any (pawl._line_priorities(t.priority)) and w.due_at = t.due_at and w.run_id = t.run_id) <> 1
        union all
        select 'lane over its limit' from pawl_data.lane_hold h join pawl_data.lane_queue q using (queue_id)
        left join pawl_data.lane_setting s using (queue_id, lane)
        group by h.queue_id, h.lane, q.key_limit, s.key_limit having count(*) > coalesce(s.key_limit, q.key_limit)
        union all
        select 'lane that no claim visits' from (select distinct w.queue_id, w.lane from pawl_data.lane_task w) w
        join pawl_data.lane_queue q using (queue_id)
        left join pawl_data.lane l using (queue_id, lane)
        where (l.state is null or l.state <> 'r')
          -- A rate opens a lane by itself.
          and not coalesce(l.state = 'w' and l.opens_at <= pawl._after(pawl.now(), 1000000 + (select m.gap from pawl._lane_terms(l.queue_id, l.lane) m)), false)
          and coalesce((select count(*) from pawl_data.lane_hold h where h.queue_id = w.queue_id and h.lane = w.lane) < pawl._lane_limit(w.queue_id, w.lane), true)
          and not exists (select from pawl_data.lane_delta d
                          where d.queue_id = w.queue_id and d.lane = w.lane and (l.state is null or l.state = 'e' or d.kind = 'f'))
    ) f
$$;
comment on function t.lane_faults() is 'what is wrong with lanes, or none';
