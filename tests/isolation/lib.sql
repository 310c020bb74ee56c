-- SPDX-License-Identifier: Apache-2.0
-- Helpers of the isolation tests: names instead of ids, one line of text for the state of a run, and what must
-- hold after everything. tests/harness/run_isolation loads it into each database, after the test clock.
-- Each helper calls one verb, and is volatile, so that the verb sees what a call of its own would see.

-- Whoever loaded the clock: pawl.now() belongs to the owner of the engine and must be able to read it.
alter table pawl_data.test_clock owner to pawl_owner;

create schema iso;

create table iso.worker (name text primary key, session bigint not null);
create table iso.run (name text primary key, run_id uuid not null);
create table iso.claim (name text, worker text, fence int not null, primary key (name, worker));

-- An empty engine at noon tomorrow: past any lease that a start of the server protects, far from midnight.
create function iso.reset()
returns void
language plpgsql
as $$
begin
    delete from pawl_data.task;
    delete from pawl_data.gate;
    delete from pawl_data.wait;
    delete from pawl_data.signal;
    delete from pawl_data.key;
    delete from pawl_data.event;
    delete from pawl_data.topic;
    delete from pawl_data.worker;
    delete from pawl_data.worker_queue;
    delete from pawl_data.run;
    delete from pawl_data.step;
    delete from pawl_data.audit;
    delete from pawl_data.action;
    delete from pawl_data.pause;
    delete from pawl_data.queue_mark;
    delete from pawl_data.bulk;
    delete from pawl_data.schedule;
    delete from pawl_data.schedule_skip;
    delete from pawl_data.subscription;
    delete from pawl_data.subscription_event;
    delete from pawl_data.subscription_held;
    delete from pawl_data.lane;
    delete from pawl_data.lane_queue;
    delete from pawl_data.held_limit;
    delete from pawl_data.lane_task;
    delete from pawl_data.lane_hold;
    delete from pawl_data.lane_delta;
    delete from pawl_data.lane_setting;
    update pawl_data.workflow set key_limit = null, key_rate = null, key_burst = null, limit_while = 'held', fair = false, laned = false where laned;
    delete from pawl_data.input;
    delete from iso.worker;
    delete from iso.run;
    delete from iso.claim;
    update pawl_data.setting set epoch = 1 where epoch <> 1;
    update pawl_data.setting set paused = false, refuses_triggers = false where paused;
    update pawl_data.epoch_lock set epoch = 1 where epoch <> 1;
    perform pawl.test_clock_set(date_trunc('day', clock_timestamp()) + interval '36 hours');
    perform iso.moves_on('0');
    perform setval('pawl_data.session_no', 1, false);
    -- Chores would only hold locks of their own.
    update pawl_data.chore set due_at = 'infinity' where due_at < 'infinity';
    perform pawl.create_workflow('w', jitter => 0);
    perform pawl.create_workflow('sub');
    -- Two steps side by side, and one that joins them.
    perform pawl.create_flow('f', max_attempts => 1);
    perform pawl.add_step('f', 'a'), pawl.add_step('f', 'b');
    perform pawl.add_step('f', 'c', '{a,b}');
    insert into iso.worker select n, (pawl.register(n, array['w', 'sub', 'f', 'f/*'])).session from unnest(array['w1', 'w2', 'w3']) n;
end
$$;

create function iso.session(worker text)
returns bigint
language sql
volatile
as $$
    select w.session from iso.worker w where w.name = $1
$$;

create function iso.id(name text)
returns uuid
language sql
volatile
as $$
    select r.run_id from iso.run r where r.name = $1
$$;

-- An id of the moment in which run first was triggered, the same in every session.
create function iso.next_id()
returns uuid
language sql
volatile
as $$
    select overlay(iso.id('first')::text placing '000000000001' from 25)::uuid
$$;

create function iso.name(run uuid)
returns text
language sql
volatile
as $$
    select coalesce((select r.name from iso.run r where r.run_id = $1), 'other')
$$;

-- The fence of the worker's last claim of the run; a worker that never had it sends 1.
create function iso.fence(name text, worker text)
returns int
language sql
volatile
as $$
    select coalesce((select c.fence from iso.claim c where c.name = $1 and c.worker = $2), 1)
$$;

-- created NAME, or the name of the run that the key or the id stands for.
create function iso.trigger(
    name text, key text default null, id uuid default null, key_ttl interval default null, while_active boolean default false,
    delay interval default null, workflow text default 'w', is_new boolean default false, limit_key text default null,
    input json default '{}', expires interval default null, replace boolean default false, debounce interval default null)
returns text
language plpgsql
as $$
declare
    v_run record;
begin
    select t.* into v_run
    from pawl.trigger(workflow, input => trigger.input, key => trigger.key, id => trigger.id, key_ttl => trigger.key_ttl,
        key_while_active => while_active, delay => trigger.delay, id_is_new => is_new,
        limit_key => trigger.limit_key, expires => trigger.expires, replace => trigger.replace, debounce => trigger.debounce) t;
    if v_run.created then
        insert into iso.run values (trigger.name, v_run.run_id);
        return 'created ' || trigger.name;
    end if;
    return iso.name(v_run.run_id);
end
$$;

-- The inputs of the runs, by their names; those that have ended, too.
create function iso.inputs()
returns text
language sql
volatile
as $$
    select string_agg(format('%s: %s', n.name, coalesce(t.input, r.input)), ', ' order by n.name)
    from iso.run n
    left join pawl_data.task t on t.run_id = n.run_id and t.task_no = 0
    left join pawl_data.run r on r.run_id = n.run_id and r.round = 1
$$;

-- For each key: created, or the name of the run that it stands for. The runs are named NAME and the key.
create function iso.trigger_many(
    name text, keys text[], ids uuid[] default null, key_ttl interval default null, while_active boolean default false)
returns text
language plpgsql
as $$
declare
    v_run record;
    v_answers text[] := '{}';
begin
    for v_run in
        select t.*, k.key
        from pawl.trigger_many('w', array_fill('{}'::json, array[cardinality(keys)]), keys, ids => trigger_many.ids,
            key_ttl => trigger_many.key_ttl, key_while_active => while_active) t
        join unnest(keys) with ordinality k (key, item) using (item)
        order by t.item
    loop
        if v_run.created then
            insert into iso.run values (trigger_many.name || v_run.key, v_run.run_id);
        end if;
        v_answers := v_answers || case when v_run.created then 'created' else iso.name(v_run.run_id) end;
    end loop;
    return array_to_string(v_answers, ' ');
end
$$;

create function iso.limit(key_limit int)
returns text
language plpgsql
as $$
begin
    perform pawl.alter_workflow('w', json_build_object('key_limit', key_limit));
    return 'limit ' || key_limit;
end
$$;

-- Options of the workflow w, such as 'key_rate=1/s limit_while=run': specs have no braces.
create function iso.set(options text)
returns text
language plpgsql
as $$
begin
    perform pawl.alter_workflow('w', (
        select json_object_agg(split_part(o, '=', 1), case when split_part(o, '=', 2) ~ '^[0-9]+$' then to_json(split_part(o, '=', 2)::int) else to_json(split_part(o, '=', 2)) end)
        from unnest(string_to_array(options, ' ')) o));
    return options;
end
$$;

create function iso.fair()
returns text
language plpgsql
as $$
begin
    perform pawl.alter_workflow('w', '{"fair": true}');
    return 'fair';
end
$$;

-- Runs that come and go: dead row versions in the way of a claim, if a reader holds an older snapshot.
create function iso.dirty()
returns text
language plpgsql
as $$
declare
    v_ids uuid[] := array(select t.run_id from pawl.trigger_many('w', array_fill('{}'::json, array[60])) t);
begin
    delete from pawl_data.task t where t.run_id = any (v_ids);
    return '';
end
$$;

-- The names of the runs that were claimed, each with its fence.
create function iso.claim(worker text, most int default 1, request int default null)
returns text
language plpgsql
as $$
declare
    v_claim record;
    v_names text[] := '{}';
begin
    for v_claim in select c.* from pawl.claim(iso.session(worker), most, claim.request) c loop
        insert into iso.claim as o values (iso.name(v_claim.run_id), claim.worker, v_claim.fence)
        on conflict on constraint claim_pkey do update set fence = excluded.fence;
        v_names := v_names || format('%s fence %s', iso.name(v_claim.run_id), v_claim.fence);
    end loop;
    return coalesce(nullif((select string_agg(n, ', ' order by n) from unnest(v_names) n), ''), 'nothing');
end
$$;

-- One item: the answer, and the state of the step where the item asked for one. A step has a seq, so that it may be
-- taken with others in one statement; that is how a worker sends it.
create function iso.commit(name text, worker text, kind text, step text default null, payload text default '{}', option json default null)
returns text
language sql
volatile
as $$
    select concat_ws(' ', c.answer, c.value ->> 'state')
    from pawl.commit(iso.session($2), array[iso.id($1)], array[iso.fence($1, $2)], array[$3], array[$4], array[$5],
                     case when $3 = 'step' then array[1] end, options => array[$6::text]) c
$$;

create function iso.task_no(step text)
returns int
language sql
volatile
as $$
    select s.step_no * 1000000
    from pawl_data.flow_step s join pawl_data.workflow w on w.workflow_id = s.workflow_id
    where w.name = 'f' and s.name = $1
$$;

-- One item about a task of the flow f.
create function iso.task(name text, worker text, step text, kind text, payload text default '{}', item text default null,
                         option json default null)
returns text
language sql
volatile
as $$
    select concat_ws(' ', c.answer, c.value ->> 'state')
    from pawl.commit(iso.session($2), array[iso.id($1)], array[iso.fence($1, $2)], array[$4], array[$6], array[$5],
                     tasks => array[iso.task_no($3)], options => array[$7::text]) c
$$;

-- The same about an element of a map that is the first step of its flow.
create function iso.element(name text, worker text, place int, kind text)
returns text
language sql
volatile
as $$
    select concat_ws(' ', c.answer, c.value ->> 'state')
    from pawl.commit(iso.session($2), array[iso.id($1)], array[iso.fence($1, $2)], array[$4], null, array['{}'],
                     tasks => array[1000000 + $3]) c
$$;

-- A worker more, of these queues only: who claims with it knows what it gets.
create function iso.hire(worker text, queue text)
returns text
language sql
volatile
as $$
    insert into iso.worker select $1, r.session from pawl.register($1, array[$2]) r returning name
$$;

-- A wait and the suspend that follows it, as a worker sends them.
create function iso.wait(name text, worker text, kind text, step text, option json)
returns text
language sql
volatile
as $$
    select string_agg(concat_ws(' ', c.answer, c.value ->> 'state'), ', ' order by c.item)
    from pawl.commit(iso.session($2), array[iso.id($1), iso.id($1)], array[iso.fence($1, $2), iso.fence($1, $2)],
                     array[$3, 'suspend'], array[$4, null], array[null, null]::text[], options => array[$5::text, null]) c
$$;

-- A transactional step, of a run or of a task of the flow f.
create function iso.record_step(name text, worker text, step text, task text default null)
returns text
language sql
volatile
as $$
    select pawl.record_step(
        pawl.step_token(iso.session($2), iso.id($1), iso.fence($1, $2), $3, task => coalesce(iso.task_no($4), 0)), '"in a transaction"')
$$;

-- A child of a run; it is remembered under its own name.
create function iso.start_child(name text, worker text, step text, child text)
returns text
language plpgsql
as $$
declare
    v_answer record;
begin
    select c.* into v_answer
    from pawl.commit(iso.session(worker), array[iso.id(name)], array[iso.fence(name, worker)], array['child'], array[step],
                     array['{}'], options => array['{"workflow": "sub"}']) c;
    if v_answer.answer = 'ok' then
        insert into iso.run values (child, (v_answer.value ->> 'child')::uuid);
    end if;
    return concat_ws(' ', v_answer.answer, v_answer.value ->> 'state');
end
$$;

create function iso.emit(topic text, key text default '', id uuid default null)
returns text
language sql
volatile
as $$
    select format('%s, woke %s', e.answer, e.woken) from pawl.emit($1, '{"id": 7}', $2, id => $3) e
$$;

-- A run that has ended is an answer here: the message of the error holds its id.
create function iso.signal(name text, signal text)
returns text
language plpgsql
as $$
begin
    return pawl.signal(iso.id(signal.name), signal.signal);
exception
    when sqlstate 'PW007' then
        return 'PW007';
end
$$;

-- The pieces of a tick, in one transaction.
create function iso.tick()
returns text
language plpgsql
as $$
begin
    perform pawl._tick_piece(p) from generate_series(1, 7) p;
    return '';
end
$$;

-- A schedule s, whose times are whole minutes after noon.
create function iso.schedule(overlap text default 'allow')
returns text
language sql
volatile
as $$
    select pawl.create_schedule('s', 'w', every => '1 min', overlap => $1, catch_up => 'all')
$$;

-- The piece of a tick that fires schedules; whether there was something to fire that nobody else had.
create function iso.fire()
returns text
language sql
volatile
as $$
    select case when pawl._tick_piece(5) then 'fired' else 'nothing' end
$$;

-- How many of the times that have come had no run.
create function iso.backfill()
returns text
language sql
volatile
as $$
    select format('%s of %s', count(*) filter (where b.created), count(*))
    from pawl.backfill_schedule('s', pawl.now() - interval '1 min', pawl.now()) b
$$;

create function iso.schedule_key()
returns text
language sql
volatile
as $$
    select 'schedule/s/' || extract(epoch from pawl.now())::bigint
$$;

-- Time goes by. Nothing is done by the way: only who calls pawl.housekeep() or iso.tick() does housekeeping.
create function iso.moves_on(by interval)
returns void
language plpgsql
as $$
begin
    perform setval('pawl_data.housekeeping_clock', pawl._micros(pawl.test_clock_advance(by)) + 100000);
end
$$;

-- Everything about a run that must come out the same every time, as one line.
create function iso.state(name text)
returns text
language plpgsql
as $$
declare
    v_id uuid := iso.id(state.name);
    v_task pawl_data.task;
    v_shown text;
    v_steps text;
    v_waits text;
    v_rounds text;
begin
    select t.* into v_task from pawl_data.task t where t.run_id = v_id and t.task_no = 0;
    select string_agg(format('%s=%s', s.name, pawl._state_name(s.state)), ' ' order by s.name, s.round)
    into v_steps from pawl._steps(array[v_id]) s;
    select string_agg(w.name, ' ' order by w.name) into v_waits from pawl_data.wait w where w.run_id = v_id;
    select string_agg(pawl._state_name(r.status) || ' f' || r.fence, ' ' order by r.round)
    into v_rounds from pawl._runs(array[v_id]) r;
    if v_task.run_id is not null then
        select concat_ws(' ', o.status, o.reason) into v_shown from pawl._overview(array[v_id], pawl.now(), null) o;
    end if;
    return coalesce(nullif(concat_ws(', ',
        case when v_task.run_id is not null then concat_ws(' ', v_shown,
            'r' || v_task.round, 'f' || v_task.fence, case when v_task.place = 's' then 'suspect' end,
            case when v_task.crashes > 0 then 'crashes ' || v_task.crashes end, case when v_task.woken then 'woken' end,
            case when v_task.rolling_back then 'rolling_back' when v_task.ending is not null then 'ending' end,
            case when v_task.paused is not null then 'paused' end) end,
        'ended ' || v_rounds, 'steps ' || v_steps, 'waits ' || v_waits,
        (select 'tasks ' || string_agg(format('%s%s f%s%s', f.name, case t.place when 'r' then '=ready' when 'w' then '=waits' when 'h' then '=held' when 's' then '=suspect' end, t.fence,
                                              case when t.ending is not null then ' ending' end), ' ' order by t.task_no)
         from pawl_data.task t join pawl_data.queue q on q.queue_id = t.queue_id
         join pawl_data.flow_step f on f.workflow_id = q.workflow_id and f.step_no = t.task_no / 1000000
         where t.run_id = v_id and t.task_no > 0),
        (select 'gates ' || string_agg(format('%s=%s', g.step_no, g.missing), ' ' order by g.step_no) from pawl_data.gate g where g.run_id = v_id),
        (select 'signals ' || nullif(count(*), 0) from pawl_data.signal g where g.run_id = v_id),
        (select 'keys ' || nullif(count(*), 0) from pawl_data.key k where k.run_id = v_id)), ''), 'no such run');
end
$$;

-- What is wrong with the database, one line for each fault. Compiling the statement would take longer than to run it.
create function iso.fault_list()
returns setof text
language plpgsql
set jit to off
as $$
begin
    return query
    select format('run %s is in the hot set and has ended in round %s', iso.name(t.run_id), r.round)
    from pawl_data.task t cross join lateral pawl._runs(array[t.run_id]) r
    where t.task_no = 0 and r.round >= t.round
    union all
    select format('run %s has %s outcomes in round %s', iso.name(r.run_id), count(*), r.round)
    from pawl._runs(array(select n.run_id from iso.run n)) r
    group by r.run_id, r.round having count(*) > 1
    union all
    select format('rounds of run %s have a gap', iso.name(r.run_id))
    from pawl._runs(array(select n.run_id from iso.run n)) r
    group by r.run_id having max(r.round) <> count(distinct r.round)
    union all
    select format('step %s of run %s is recorded %s times as done', s.name, iso.name(s.run_id), count(*))
    from pawl._steps(array(select n.run_id from iso.run n)) s
    where s.state = 's' group by s.run_id, s.task_no, s.name having count(*) > 1
    union all
    select format('step %s without a run', s.name)
    from pawl_data.step s
    where not exists (select from pawl_data.task t where t.run_id = s.run_id)
      and not exists (select from pawl._runs(array[s.run_id]) r)
    union all
    -- A cancel passed on to a child that has ended meanwhile goes with the next housekeeping.
    select format('wait %s without a living run', w.name)
    from pawl_data.wait w
    where not exists (select from pawl_data.task t where t.run_id = w.run_id) and w.name <> 'cancel'
    union all
    select format('signal %s without a living run', g.name)
    from pawl_data.signal g where not exists (select from pawl_data.task t where t.run_id = g.run_id)
    union all
    select format('step %s is recorded and still waited for', w.name)
    from pawl_data.wait w join lateral pawl._steps(array[w.run_id]) s on s.name = w.name and s.task_no = w.task_no
    where w.kind <> 'l'
      and (s.state <> 'e' or s.round = (select t.round from pawl_data.task t where t.run_id = w.run_id and t.task_no = 0))
    union all
    select format('run %s waits for signal %s, which is there', iso.name(w.run_id), w.topic)
    from pawl_data.wait w join pawl_data.signal g on g.run_id = w.run_id and g.name = w.topic
    where w.kind in ('g', 'a')
    union all
    select format('run %s waits for event %s, which is there', iso.name(w.run_id), w.topic)
    from pawl_data.wait w
    join pawl_data.task t on t.run_id = w.run_id and t.task_no = w.task_no
    join pawl_data.event e on e.tenant = w.tenant and e.topic = w.topic and e.key = w.key
                     and e.event_id >= pawl._id_floor(t.triggered_at)
    where w.kind = 'e' and w.digest = pawl._digest(pawl._path_set(w.match), e.payload::jsonb)
      and not exists (select from pawl._steps(array[w.run_id]) s where s.source_id = e.event_id)
    union all
    select format('run %s waits for a child that has ended', iso.name(w.run_id))
    from pawl_data.wait w
    where w.kind = 'c' and not exists (select from pawl_data.task t where t.run_id = w.child_id)
    union all
    select format('run %s waits for nothing, for ever', iso.name(t.run_id))
    from pawl_data.task t
    where t.place = 'w' and t.due_at = 'infinity' and t.paused is null
      and not exists (select from pawl_data.wait w where w.run_id = t.run_id and w.kind <> 'l')
    union all
    select format('flow %s has nothing to wait for', iso.name(t.run_id))
    from pawl_data.task t
    where t.place = 'o' and not exists (select from pawl_data.task o where o.run_id = t.run_id and o.task_no > 0)
      and not exists (select from pawl_data.wait w where w.run_id = t.run_id and w.kind = 'c')
    union all
    select format('gate of step %s misses %s', g.step_no, g.missing)
    from pawl_data.gate g
    left join pawl_data.task t on t.run_id = g.run_id and t.task_no = 0
    left join pawl_data.queue q on q.queue_id = t.queue_id
    left join pawl_data.flow_step f on f.workflow_id = q.workflow_id and f.step_no = g.step_no
    cross join lateral (
        select cardinality(f.deps) - count(*) as n
        from pawl._steps(array[g.run_id]) s
        where s.task_no = any (array(select d * 1000000 from unnest(f.deps) d)) and s.name !~ '#' and s.state in ('s', 'k')
    ) before
    -- A map that has started waits for its elements, which are tasks or children.
    cross join lateral (
        select (select count(*) from pawl_data.task o where o.run_id = g.run_id and o.task_no / 1000000 = g.step_no)
               + (select count(*) from pawl_data.wait w where w.run_id = g.run_id and w.task_no / 1000000 = g.step_no and w.name !~ '#') as n
    ) own
    -- In a run that is to end nothing is counted any more.
    where f.step_no is null
       or t.ending is null and g.missing <> case when f.map_from is not null and before.n = 0 then own.n else before.n end
    union all
    select format('run %s was woken and still waits', iso.name(t.run_id))
    from pawl_data.task t where t.place = 'w' and t.woken and t.paused is null
    union all
    select format('run %s is held by a session that has ended', iso.name(t.run_id))
    from pawl_data.task t
    where t.place = 'h' and not exists (
        select from pawl_data.worker w where w.session_id = t.session_id and w.ended_at is null)
    union all
    select format('run %s is held by a claim that is said to be lost', iso.name(t.run_id))
    from pawl_data.task t
    join pawl_data.audit a on a.run_id = t.run_id and a.task_no = t.task_no and a.what = 'lease_lost'
    where t.place = 'h' and (a.detail ->> 'fence')::int = t.fence
    union all
    select format('key %s stands for a run that is nowhere', k.key)
    from pawl_data.key k
    where not exists (select from pawl_data.task t where t.run_id = k.run_id)
      and not exists (select from pawl._runs(array[k.run_id]) r)
    union all
    select format('key %s stands for another input than that of its run', k.key)
    from pawl_data.key k
    join pawl_data.task t on t.run_id = k.run_id and t.task_no = 0
    where not t.input_apart and k.digest <> sha256(convert_to(t.input::text, 'UTF8'))
    union all
    select format('run %s was claimed after it had expired', iso.name(t.run_id))
    from pawl_data.task t join pawl_data.wait w on w.run_id = t.run_id and w.name = 'expires'
    where t.claimed_at >= w.due_at
    union all
    select format('run %s lives again without its key', iso.name(t.run_id))
    from pawl_data.task t
    cross join lateral pawl._last_run(t.run_id) r
    where t.task_no = 0 and r.key_freed and not exists (select from pawl_data.key k where k.run_id = t.run_id and k.expires_at = 'infinity')
    union all
    select format('time %s of schedule %s has %s runs', t.key, s.name, count(*))
    from pawl_data.schedule s
    join pawl_data.task t on t.tenant = s.tenant and t.task_no = 0 and starts_with(t.key, 'schedule/' || s.name || '/')
    group by t.key, s.name having count(*) > 1
    union all
    select format('schedule %s has handled its next time', s.name)
    from pawl_data.schedule s where s.next_at <= s.handled_at
    union all
    select 'a hold of a lane without a held task'
    from pawl_data.lane_hold h
    where not exists (select from pawl_data.task t where t.run_id = h.run_id and t.task_no = h.task_no
                        and (t.place = 'h' or (select q.while_run from pawl_data.lane_queue q where q.queue_id = h.queue_id)))
    union all
    select format('run %s is held and not counted in its lane', iso.name(t.run_id))
    from pawl_data.task t
    where t.place = 'h' and t.lane is not null
      and not exists (select from pawl_data.lane_hold h where h.queue_id = t.queue_id and h.lane = t.lane and h.run_id = t.run_id)
    union all
    select format('run %s is in a lane and not in its line', iso.name(t.run_id))
    from pawl_data.task t
    where t.place = 'l'
      and not exists (select from pawl_data.lane_task w where w.queue_id = t.queue_id and w.lane = t.lane and w.due_at = t.due_at and w.run_id = t.run_id)
    union all
    select 'a lane is over its limit'
    from pawl_data.lane_hold h join pawl_data.lane_queue q using (queue_id)
    left join pawl_data.lane_setting s using (queue_id, lane)
    group by h.queue_id, h.lane, q.key_limit, s.key_limit having count(*) > coalesce(s.key_limit, q.key_limit)
    union all
    select 'a limit is exceeded'
    from pawl_data.lane_hold h join pawl_data.lane_queue q using (queue_id) join pawl_data.held_limit l using (limit_no)
    group by limit_no, l.most having count(*) > l.most
    union all
    select 'a lane has room and a task, and no claim visits it'
    from (select distinct w.queue_id, w.lane from pawl_data.lane_task w) w
    join pawl_data.lane_queue q using (queue_id)
    left join pawl_data.lane l using (queue_id, lane)
    where l.state is distinct from 'r'
      and not coalesce(l.state = 'w' and l.opens_at <= pawl._after(pawl.now(), 1000000 + (select m.gap from pawl._lane_terms(l.queue_id, l.lane) m)), false)
      and coalesce((select count(*) from pawl_data.lane_hold h where h.queue_id = w.queue_id and h.lane = w.lane) < pawl._lane_limit(w.queue_id, w.lane), true)
      and not exists (select from pawl_data.lane_delta d
                      where d.queue_id = w.queue_id and d.lane = w.lane and (l.state is distinct from 'f' or d.kind = 'f'));
end
$$;

-- Must be none after any schedule.
create function iso.faults()
returns text
language sql
volatile
as $$
    select coalesce(string_agg(f, '; ' order by f), 'none') from iso.fault_list() f
$$;

-- How a pair of tests/isolation/pairs.c ended: the run, its child if it has one, how many others there are, and the schedule if there is one.
create function iso.outcome()
returns text
language sql
volatile
as $$
    select concat_ws('; ', iso.state('r'),
        'child ' || (select iso.state(n.name) from iso.run n where n.name in ('c', 'ca', 'cb')
                     and iso.state(n.name) <> 'no such run' limit 1),
        (select nullif(count(*), 0) || ' more' from pawl_data.task t
         where t.run_id is distinct from iso.id('r') and iso.name(t.run_id) not in ('c', 'ca', 'cb')),
        (select format('schedule fired %s%s%s%s, next in %s', s.fired, ', skipped ' || nullif(s.skipped, 0), ', waits since ' || (pawl.now() - s.waiting_at),
                       case when s.paused then ', paused' end, s.next_at - pawl.now())
         from pawl_data.schedule s))
$$;

create function iso.top_fence()
returns int
language sql
volatile
as $$
    select max(f) from (
        select t.fence from pawl_data.task t where t.run_id = iso.id('r')
        union all
        select r.fence from pawl._runs(array[iso.id('r')]) r
        union all
        select p.fence from pawl._steps(array[iso.id('r')]) p where p.task_no > 0
        union all
        -- A flow takes its tasks with it; those of a later round begin above this.
        select 1000000 from pawl._runs(array[iso.id('r')]) r join pawl_data.queue q on q.queue_id = r.queue_id where q.name = 'f'
    ) s (f)
$$;

-- Tries what must be possible, and what must not be, after a schedule; the caller rolls it back. What is ready can be
-- claimed; the last worker of a cancelled run can neither record a step nor complete it.
create function iso.probe(cancelled boolean)
returns text
language plpgsql
as $$
declare
    v_round int := (select max(r.round) from pawl._runs(array[iso.id('r')]) r where r.status = 's');
    v_ready int;
    v_session bigint;
    v_claimed int;
    v_answers text;
    v_lost text;
begin
    if cancelled then
        if v_round is not null then
            return 'a cancelled run has ended SUCCESS';
        end if;
        v_answers := iso.commit('r', 'w1', 'step', 'probe#1') || ', ' || iso.commit('r', 'w1', 'complete') || ', '
            || iso.task('r', 'w1', 'a', 'step', '{}', 'probe#1') || ', ' || iso.task('r', 'w1', 'b', 'complete');
        if v_answers like '%ok%' or v_answers like '%already' then
            return 'after an acknowledged cancel a worker was told: ' || v_answers;
        end if;
    end if;
    perform pawl.resume_all('probe');
    -- Each time since a schedule was created gets its run, or is listed.
    perform pawl.resume_schedule(s.name, catch_up => 'all') from pawl_data.schedule s;
    perform pawl.kill(array[s.last_run]) from pawl_data.schedule s where s.last_run is not null and s.overlap <> 'allow';
    perform from iso.moves_on('2 s');
    perform iso.fire() from generate_series(1, 3);
    v_lost := (
        select string_agg(n.at::text, ', ')
        from pawl_data.schedule s
        cross join lateral pawl._schedule_times(s, s.created_at, pawl.now(), 100) n
        where not exists (select from pawl_data.key k where k.key = format('schedule/%s/%s', s.name, extract(epoch from n.at)::bigint))
          and not exists (select from pawl_data.schedule_skip k where k.schedule_id = s.schedule_id and n.at between k.first_at and k.last_at));
    if v_lost is not null then
        return 'no run at ' || v_lost;
    end if;
    v_ready := (
        select count(*) from pawl_data.task t
        where t.place = 'r'
          and not exists (select from pawl_data.wait w where w.run_id = t.run_id and w.name = 'expires' and w.due_at <= pawl.now()));
    select r.session into v_session from pawl.register('probe', array['*']) r;
    select count(*) into v_claimed from pawl.claim(v_session, 100) c;
    if v_claimed < v_ready then
        return format('%s of %s ready runs could be claimed', v_claimed, v_ready);
    end if;
    return null;
end
$$;
