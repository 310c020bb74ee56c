-- SPDX-License-Identifier: Apache-2.0
-- What the engine holds, written as the oracle writes it (tests/oracle/model/show.c), and a fresh beginning for each seed.

create schema oracle;

-- Stable, as what it calls is: only so it is taken into the statements that call it.
create function oracle.us(at timestamptz)
returns text
language sql
stable
as $$
    select case when at is null then '-' when isfinite(at) then (extract(epoch from at) * 1000000)::bigint::text else 'inf' end
$$;

create function oracle.us(span interval)
returns text
language sql
immutable
as $$
    select coalesce((extract(epoch from span) * 1000000)::bigint::text, '-')
$$;

create function oracle.js(value json)
returns text
language sql
immutable
as $$
    select coalesce(value::jsonb::text, '-')
$$;

-- Ids are made of random(), so that a seed gives the same ones again.
create function oracle.random_uuid()
returns uuid
language sql
volatile
as $$
    select overlay(md5(concat(random(), ' ', random())) placing substr('89ab', 1 + floor(random() * 4)::int, 1) from 17)::uuid
$$;

-- The engine calls it as its owner.
grant usage on schema oracle to public;

do $$
declare
    v_function regprocedure;
begin
    for v_function in
        select p.oid from pg_proc p where p.pronamespace = 'pawl'::regnamespace and strpos(p.prosrc, 'gen_random_uuid()') > 0
    loop
        execute replace(pg_get_functiondef(v_function), 'gen_random_uuid()', 'oracle.random_uuid()');
    end loop;
end
$$;

-- The hot rows and what hangs on them.
create function oracle.show_task(run uuid)
returns text
language plpgsql
stable
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
as $$
declare
    t pawl_data.task;
    v_text text := '';
    v_gates boolean;
begin
    for t in select k.* from pawl_data.task k where k.run_id = run order by k.task_no loop
        v_text := v_text || concat_ws(' ', 'task' || case when t.task_no > 0 then '/' || t.task_no else '' end,
            -- In line in a lane, or about to be: what workers see is the same.
            case t.place when 'l' then 'r' else t.place end, t.priority,
            t.round, t.crashes, t.fence, t.execution, t.started, t.rolling_back,
            coalesce(t.reason, '-'), coalesce(t.session_id, 0), coalesce(t.request, 0),
            case when t.place = 'o' then '-' else oracle.us(t.due_at) end,
            oracle.us(t.triggered_at), oracle.us(t.started_at), oracle.us(t.claimed_at),
            (select q.name from pawl_data.queue q where q.queue_id = t.queue_id), '''' || t.tenant || '''', coalesce(t.limit_key, '-'), coalesce(t.key, '-'),
            coalesce(t.parent_id::text, '-'), concat(coalesce(t.parent_step, '-'), '@' || t.parent_task),
            oracle.js(case when t.input_apart then pawl._input_of(run) else t.input end), oracle.js(t.metadata),
            case when t.kept then 'kept' end) || e'\n';
        if t.ending is not null then
            v_text := v_text || concat_ws(' ', 'ending', t.ending ->> 'status', coalesce(t.ending ->> 'by', '-'),
                coalesce(t.ending ->> 'why', '-'), coalesce((t.ending ->> 'rollback')::boolean, false),
                oracle.js(t.ending -> 'error')) || e'\n';
        end if;
        if t.paused is not null then
            v_text := v_text || concat_ws(' ', 'paused', t.paused ->> 'by', coalesce(t.paused ->> 'reason', '-'),
                oracle.us((t.paused ->> 'due')::timestamptz)) || e'\n';
        end if;
        if t.retries is not null then
            v_text := v_text || coalesce((
                select string_agg(concat_ws(' ', 'try', '"' || e.key || '"', e.value ->> 'n', e.value ->> 'of',
                           oracle.us((e.value ->> 'due')::timestamptz), oracle.js(e.value -> 'error')) || e'\n',
                           '' order by e.key collate "C")
                from json_each(t.retries) e), '');
        end if;
        if t.task_no = 0 then
            v_gates := t.place = 'o' and t.ending is null;
        end if;
    end loop;
    if v_text = '' then
        return '';
    end if;
    v_text := v_text || (
        select concat(
            string_agg(concat_ws(' ', 'wait' || case when w.task_no > 0 then '/' || w.task_no else '' end, w.name, w.kind, w.seq,
                coalesce(w.topic, '-'), coalesce(w.key, '-'),
                oracle.js(w.match), oracle.js(w.form), coalesce(w.child_id::text, '-'), oracle.us(w.created_at),
                oracle.us(w.due_at)) || e'\n', '' order by w.task_no, w.name collate "C") filter (where w.kind <> 'l'),
            (select string_agg(concat_ws(' ', 'signal', g.name, oracle.js(g.payload)) || e'\n', '' order by g.signal_no)
             from pawl_data.signal g where g.run_id = run),
            concat_ws(' ', 'limits', oracle.us(max(w.due_at) filter (where w.kind = 'l' and w.name = 'cancel')),
                oracle.us(max(w.due_at) filter (where w.kind = 'l' and w.name = 'grace')),
                oracle.us(max(w.due_at) filter (where w.kind = 'l' and w.name = 'timeout')),
                oracle.us(max(w.due_at) filter (where w.kind = 'l' and w.name = 'expires'))), e'\n')
        from pawl_data.wait w where w.run_id = run);
    if v_gates then
        v_text := v_text || coalesce((
            select string_agg(concat_ws(' ', 'gate', g.step_no, g.missing) || e'\n', '' order by g.step_no)
            from pawl_data.gate g where g.run_id = run), '');
    end if;
    return v_text;
end
$$;

create function oracle.show_run(run uuid)
returns text
language plpgsql
stable
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
as $$
declare
    v_task text := oracle.show_task(run);
    v_steps text;
    v_rounds text;
    v_audits text;
    v_notes bigint;
    v_tags text;
    -- Rows of a run are all in the tables of its day, or all in those of runs that outlived it.
    v_kept boolean := coalesce((select t.kept from pawl_data.task t where t.run_id = run and t.task_no = 0),
        exists (select from pawl_data.run_kept k where k.run_id = run));
begin
    if v_kept then
        return oracle.show_kept(run, v_task);
    end if;
    select string_agg(concat_ws(' ', 'round', r.round, r.status, r.priority, r.fence, r.execution, coalesce(r.session_id, 0),
               oracle.us(r.triggered_at), oracle.us(r.started_at), oracle.us(r.ended_at), r.rolled_back, r.key_freed,
               (select q.name from pawl_data.queue q where q.queue_id = r.queue_id), '''' || r.tenant || '''',
               coalesce(r.limit_key, '-'), coalesce(r.key, '-'), coalesce(r.parent_id::text, '-'), concat(coalesce(r.parent_step, '-'), '@' || r.parent_task),
               oracle.js(case when r.input_apart and r.round = 1 then pawl._input_of(run) else r.input end),
               oracle.js(r.metadata), oracle.js(r.output), oracle.js(r.error)) || e'\n', '' order by r.round)
    into v_rounds from pawl_data.run r where r.run_id = run;
    if v_task = '' and v_rounds is null then
        return format(e'run %s\nnone\n', run);
    end if;
    select string_agg(concat_ws(' ', 'step' || case when s.task_no > 0 then '/' || s.task_no else '' end, s.name, s.round, s.state, s.kind, s.seq, s.attempt,
               case when s.kind = 'c' then 0 else s.fence end,
               oracle.us(s.started_at), oracle.us(s.ended_at), oracle.js(s.output), oracle.js(s.error), oracle.js(s.undo),
               coalesce(s.source_id::text, '-')) || e'\n', '' order by s.task_no, s.name collate "C", s.round)
    into v_steps from pawl_data.step s where s.run_id = run;
    select string_agg(concat_ws(' ', 'audit', a.what, oracle.us(a.at), coalesce(a.who, '-'), nullif(a.task_no, 0)) || e'\n', ''
               order by a.audit_no)
    into v_audits from pawl_data.audit a where a.run_id = run;
    select count(*) into v_notes from pawl_data.note n where n.run_id = run;
    select format(e'tags %s\n', array_agg(g.tag order by g.tag collate "C")) into v_tags from pawl_data.tag g where g.run_id = run having count(*) > 0;
    return concat('run ', run, e'\n', v_task, v_steps, v_rounds, v_audits, 'notes ', v_notes, e'\n', v_tags);
end
$$;

-- The same of a run that outlived its day.
create function oracle.show_kept(run uuid, v_task text)
returns text
language plpgsql
stable
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
as $$
declare
    v_steps text;
    v_rounds text;
    v_audits text;
    v_notes bigint;
    v_tags text;
begin
    select string_agg(concat_ws(' ', 'round', r.round, r.status, r.priority, r.fence, r.execution, coalesce(r.session_id, 0),
               oracle.us(r.triggered_at), oracle.us(r.started_at), oracle.us(r.ended_at), r.rolled_back, r.key_freed,
               (select q.name from pawl_data.queue q where q.queue_id = r.queue_id), '''' || r.tenant || '''',
               coalesce(r.limit_key, '-'), coalesce(r.key, '-'), coalesce(r.parent_id::text, '-'), concat(coalesce(r.parent_step, '-'), '@' || r.parent_task),
               oracle.js(case when r.input_apart and r.round = 1 then pawl._input_of(run) else r.input end),
               oracle.js(r.metadata), oracle.js(r.output), oracle.js(r.error)) || e'\n', '' order by r.round)
    into v_rounds from pawl_data.run_kept r where r.run_id = run;
    select string_agg(concat_ws(' ', 'step' || case when s.task_no > 0 then '/' || s.task_no else '' end, s.name, s.round, s.state, s.kind, s.seq, s.attempt,
               case when s.kind = 'c' then 0 else s.fence end,
               oracle.us(s.started_at), oracle.us(s.ended_at), oracle.js(s.output), oracle.js(s.error), oracle.js(s.undo),
               coalesce(s.source_id::text, '-')) || e'\n', '' order by s.task_no, s.name collate "C", s.round)
    into v_steps from pawl_data.step_kept s where s.run_id = run;
    select string_agg(concat_ws(' ', 'audit', a.what, oracle.us(a.at), coalesce(a.who, '-'), nullif(a.task_no, 0)) || e'\n', ''
               order by a.audit_no)
    into v_audits from pawl_data.audit_kept a where a.run_id = run;
    select count(*) into v_notes from pawl_data.note_kept n where n.run_id = run;
    select format(e'tags %s\n', array_agg(g.tag order by g.tag collate "C")) into v_tags from pawl_data.tag_kept g where g.run_id = run having count(*) > 0;
    return concat('run ', run, e'\n', v_task, v_steps, v_rounds, v_audits, 'notes ', v_notes, e' kept\n', v_tags);
end
$$;

create function oracle.show_rest()
returns text
language sql
stable
as $$
    select concat(
        (select format(e'epoch %s\n', s.epoch) from pawl_data.setting s),
        (select format(e'tags %s\n', count(*)) from (select t.tag from pawl_data.tag t union all select k.tag from pawl_data.tag_kept k) g),
        (select string_agg(concat_ws(' ', 'workflow', w.name, coalesce(w.runtime, '-'), w.priority, w.max_attempts,
                    oracle.us(w.base), oracle.us(w.cap), oracle.us(w.run_timeout), oracle.us(w.step_timeout), w.strict_order,
                    coalesce(w.key_limit, 0), w.fair,
                    exists (select from pawl_data.pause p where p.subject = 'workflow' and p.name = w.name),
                    exists (select from pawl_data.pause p where p.subject = 'queue' and p.name = w.name),
                    case when w.frozen then 'frozen' when w.flow then 'flow' end) || e'\n',
                    '' order by w.workflow_id)
         from pawl_data.workflow w),
        (select string_agg(concat_ws(' ', 'queue', q.name, oracle.us(q.step_timeout),
                    exists (select from pawl_data.pause p where p.subject = 'queue' and p.name = q.name)) || e'\n', '' order by q.queue_id)
         from pawl_data.queue q),
        (select string_agg(concat_ws(' ', 'session', k.session_id, k.name, oracle.us(k.lease), oracle.us(k.lease_until),
                    k.idle, k.draining, coalesce(k.ended_why, '-')) || e'\n', '' order by k.registered_at, k.session_id)
         from pawl_data.worker k),
        (select string_agg(concat_ws(' ', 'key', k.run_id, '''' || k.tenant || '''', w.name, k.key, oracle.us(k.expires_at))
                    || e'\n', '' order by k.run_id)
         from pawl_data.key k join pawl_data.workflow w on w.workflow_id = k.workflow_id),
        (select string_agg(concat_ws(' ', 'event', e.event_id, oracle.us(e.emitted_at), '''' || e.tenant || '''', e.topic)
                    || ' ' || e.key || ' ' || oracle.js(e.payload) || e'\n', '' order by e.event_id)
         from pawl_data.event e),
        (select string_agg(concat_ws(' ', 'schedule', s.name, '''' || s.tenant || '''', s.workflow, oracle.us(s.handled_at), oracle.us(s.next_at),
                    oracle.us(s.fire_at), oracle.us(s.waiting_at), s.paused, oracle.us(s.last_at), coalesce(s.last_run::text, '-'), s.fired,
                    s.skipped, s.missed, oracle.us(s.skip_at), s.last_error) || e'\n', '' order by s.schedule_id)
         from pawl_data.schedule s),
        (select string_agg(concat_ws(' ', 'skip', k.schedule_id, oracle.us(k.first_at), oracle.us(k.last_at), k.times, k.reason,
                    coalesce(k.run_id::text, '-')) || e'\n', '' order by k.schedule_id, k.first_at)
         from pawl_data.schedule_skip k),
        (select string_agg(concat_ws(' ', 'bulk', b.bulk_no, b.act,
                    case when b.stopped_by is not null then 'stopped' when b.ended_at is not null then 'done' else 'running' end,
                    cardinality(b.again), b.turns, oracle.us(b.due_at),
                    (select string_agg(concat(a.key, '=', a.value), ' ' order by a.key collate "C") from jsonb_each(b.answers) a),
                    b.last_error) || e'\n', '' order by b.bulk_no)
         from pawl_data.bulk b),
        (select string_agg(concat_ws(' ', 'lane', q.name, '''' || s.tenant || '''', coalesce(s.limit_key, '-'), coalesce(s.key_limit, 0),
                    coalesce(s.weight, 0), s.paused_at is not null) || e'\n', '' order by q.queue_id, s.tenant collate "C", coalesce(s.limit_key, '-') collate "C")
         from pawl_data.lane_setting s join pawl_data.queue q on q.queue_id = s.queue_id),
        (select string_agg(format(e'counted %s\n', h.run_id), '' order by h.run_id) from pawl_data.lane_hold h),
        -- A line has the tasks that are in it, and no others.
        (select string_agg(format(e'not in line %s\n', coalesce(t.run_id, w.run_id)), '')
         from (select t.* from pawl_data.task t where t.place = 'l') t
         full join pawl_data.lane_task w on w.run_id = t.run_id and w.task_no = t.task_no and w.queue_id = t.queue_id and w.lane = t.lane
             and w.due_at = t.due_at and w.priority = t.priority
         where t.run_id is null or w.run_id is null),
        (select string_agg(concat_ws(' ', 'subscription', s.subscription_id, s.name, '''' || s.tenant || '''', s.workflow, s.paused,
                    case when s.retry_at = '-infinity' then '-' else oracle.us(s.retry_at) end, s.held_after, s.last_error) || e'\n', ''
                    order by s.subscription_id)
         from pawl_data.subscription s),
        (select string_agg(concat_ws(' ', 'expected', e.event_id, e.last_id) || e'\n', '' order by e.event_id) from pawl_data.subscription_event e),
        -- Those of subscriptions that were deleted are removed by and by.
        (select string_agg(concat_ws(' ', 'deferred', h.subscription_id, h.event_id) || e'\n', '' order by h.subscription_id, h.event_id)
         from pawl_data.subscription_held h where exists (select from pawl_data.subscription s where s.subscription_id = h.subscription_id)))
$$;

-- Ids of all runs there are.
create function oracle.runs()
returns setof text
language sql
stable
as $$
    select t.run_id::text from pawl_data.task t
    union
    select r.run_id::text from pawl_data.run r
    union
    select k.run_id::text from pawl_data.run_kept k
    order by 1
$$;

-- A record as a claim hands it out, a line for each thing in it; no record is an empty one.
create function oracle.record(record json, rolling_back boolean)
returns text
language sql
immutable
as $$
    select concat(
        (select string_agg(format(e' step %s %s %s %s %s %s\n', s ->> 'name',
                    array_position(array['step', 'sleep', 'event', 'signal', 'child', 'approval'], s ->> 'kind'), s ->> 'state',
                    s ->> 'seq', (s -> 'output')::jsonb, (s -> 'error')::jsonb), ''
                    order by (s ->> 'seq')::int, s ->> 'name' collate "C")
         from json_array_elements(record -> 'steps') s),
        (select string_agg(format(e' wait %s %s %s\n', w ->> 'name',
                    array_position(array['step', 'sleep', 'event', 'signal', 'child', 'approval'], w ->> 'kind'),
                    coalesce(w ->> 'child', '-')), '' order by w ->> 'name' collate "C")
         from json_array_elements(record -> 'waits') w),
        (select string_agg(format(e' try "%s" %s\n', t.key, t.value ->> 'n'), '' order by t.key collate "C")
         from json_each(record -> 'retries') t),
        case when rolling_back then format(e' undo %s\n', coalesce((
            select jsonb_agg(u ->> 'name') from json_array_elements(record -> 'undos') u), '[]')) end)
$$;

-- Time begins at the same moment for every seed; chores do not run, because when they come is not the contract's.
create function oracle.reset()
returns void
language plpgsql
as $$
begin
    -- Not deleted: rows that are alike in all that decides come in the order in which they lie in their pages.
    truncate pawl_data.task, pawl_data.wait, pawl_data.signal, pawl_data.key, pawl_data.event, pawl_data.topic, pawl_data.worker, pawl_data.worker_queue, pawl_data.run, pawl_data.step, pawl_data.audit,
        pawl_data.note, pawl_data.run_kept, pawl_data.step_kept, pawl_data.audit_kept, pawl_data.note_kept, pawl_data.input_kept, pawl_data.action, pawl_data.pause,
        pawl_data.schedule, pawl_data.schedule_skip, pawl_data.subscription, pawl_data.subscription_event, pawl_data.subscription_held, pawl_data.queue_mark, pawl_data.input, pawl_data.tag, pawl_data.tag_kept, pawl_data.delivery, pawl_data.gate, pawl_data.flow_edge, pawl_data.flow_step, pawl_data.queue,
        pawl_data.bulk, pawl_data.lane_queue, pawl_data.lane_setting, pawl_data.lane, pawl_data.lane_task, pawl_data.lane_hold, pawl_data.lane_delta, pawl_data.workflow restart identity;
    update pawl_data.setting set epoch = 1, payload_max = 4000, paused = false, refuses_triggers = false;
    update pawl_data.chore set due_at = 'infinity', position = null, last_error = null, failed_at = null;
    perform oracle.set_days('2040-01-01');
    perform setval('pawl_data.session_no', 1, false);
    perform setval('pawl_data.housekeeping_clock', 0);
    perform pawl.test_clock_set('2040-01-01 00:00:00+00');
end
$$;

-- What tick(true) does, but for the transactions: a prepared statement cannot call a procedure.
create function oracle.tick()
returns text
language plpgsql
as $$
begin
    perform pawl._tick_begins(true);
    for v_piece in 1..7 loop
        for v_turn in 1..5 loop
            exit when not pawl._tick_piece(v_piece);
        end loop;
    end loop;
    perform oracle.fire();
    return 'ok';
end
$$;

-- How many schedules a piece fires, and how many runs of events it starts, depends on how fast the machine is.
create function oracle.fire()
returns void
language plpgsql
as $$
begin
    for v_turn in 1..100 loop
        exit when not pawl._tick_piece(5);
    end loop;
    for v_turn in 1..100 loop
        exit when not pawl._tick_piece(6);
    end loop;
    -- All turns of bulks that have come.
    for v_turn in 1..1000 loop
        exit when not exists (select from pawl_data.bulk);
        perform pawl._next_bulk(pawl.now(), null);
        perform pawl._forget_bulks(pawl.now());
        exit when not exists (select from pawl_data.bulk b where b.ended_at is null and b.due_at <= pawl.now());
    end loop;
end
$$;

create function oracle.housekeep()
returns void
language plpgsql
as $$
begin
    perform pawl.housekeep();
    perform oracle.fire();
end
$$;

-- Days pass, and what retention has to do then is done.
create function oracle.retain(by interval)
returns text
language plpgsql
as $$
declare
    v_living bigint := (select count(*) from pawl_data.task t where t.task_no = 0 and not t.kept);
    v_runs bigint := (select count(*) from oracle.runs());
    v_error text;
begin
    perform pawl.test_clock_advance(by);
    perform pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date + d)
    from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag', 'event']) t, generate_series(0, 1) d;
    -- A chore does one piece at a time. A day that cannot be locked at once is left to the next.
    for v_n in 1..200 loop
        update pawl_data.chore c set due_at = pawl.now() where c.chore in ('retention', 'kept') and c.due_at <> pawl.now() + interval '1 min';
        perform pawl._do_chore(pawl.now(), false);
        -- What became of schedules is compared apart: that of a flow without steps cannot be fired.
        select string_agg(c.last_error, ' ') into v_error from pawl_data.chore c where c.chore not in ('schedules', 'subscriptions');
        exit when v_error is not null
            or not exists (select from pawl_data.chore c where c.chore in ('retention', 'kept') and c.due_at <> pawl.now() + interval '1 min');
    end loop;
    update pawl_data.chore c set due_at = pawl.now() where c.chore = 'keys';
    perform pawl._do_chore(pawl.now(), false);
    v_error := coalesce(v_error, (select c.last_error from pawl_data.chore c where c.chore = 'keys'));
    update pawl_data.chore set due_at = 'infinity', last_error = null;
    return concat_ws(' ', 'kept', v_living - (select count(*) from pawl_data.task t where t.task_no = 0 and not t.kept),
        'gone', v_runs - (select count(*) from oracle.runs()), v_error);
end
$$;

-- Partitions of that day and the next, and of no other: every look at history is shorter with few.
create function oracle.set_days(day date)
returns void
language plpgsql
as $$
declare
    v_name text;
begin
    for v_name in
        select c.relname
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where c.relnamespace = 'pawl_data'::regnamespace and c.relkind = 'r'
          and right(c.relname, 8) not in (
              select to_char(day + d, 'YYYYMMDD') from generate_series(0, 1) d)
    loop
        execute format('drop table pawl_data.%I', v_name);
    end loop;
    perform pawl._make_partition(t, day + d)
    from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag', 'event']) t, generate_series(0, 1) d;
    update pawl_data.setting set partitions_until = 'infinity';
end
$$;

-- A mark hides for two seconds what was given back behind it. The clock stands still meanwhile, so there are none here.
create function oracle.no_mark()
returns trigger
language plpgsql
as $$
begin
    return null;
end
$$;
create trigger no_mark before insert on pawl_data.queue_mark for each row execute function oracle.no_mark();
