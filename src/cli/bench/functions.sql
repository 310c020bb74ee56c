-- SPDX-License-Identifier: Apache-2.0
-- The functions that pawl bench calls, in its scratch database. They execute runs of three steps in batches, once with bare SQL and once
-- with the verbs of the engine. Both have the same client and the same round trips. Each connection has its own workflow, so that it claims
-- whole batches. The ids of the current batch are in settings of the connection.
create schema bench;

-- 240 bytes of JSON.
create function bench.pad()
returns text
language sql
immutable
return '{"pad":"' || repeat('x', 230) || '"}';

-- Ids in the order of time, as those of the engine.
create function bench.make_id()
returns uuid
language sql
volatile
return (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
    || substr(replace(gen_random_uuid()::text, '-', ''), 13))::uuid;

-- The statements of bench/bare.c.
create function bench.bare_trigger(p_count int)
returns void
language plpgsql
volatile
as $$
begin
    insert into bare.active (run_id, workflow_id, input)
    select bench.make_id(), pg_backend_pid(), x::jsonb
    from unnest(array_fill(bench.pad(), array[p_count])) t (x);
end
$$;

create function bench.bare_claim(p_max int)
returns void
language plpgsql
volatile
as $$
declare
    v_runs uuid[];
begin
    with q as (
        select run_id from bare.active
        where workflow_id = pg_backend_pid() and priority = 100 and visible_at <= now()
        order by visible_at
        limit p_max
        for update skip locked),
    u as (
        update bare.active r
        set status = 1, attempt = attempt + 1, visible_at = now() + '30 s', worker_id = 7, started_at = now()
        from q where r.run_id = q.run_id
        returning r.run_id, r.input)
    select array_agg(u.run_id) into v_runs from u;
    if coalesce(cardinality(v_runs), 0) < p_max then
        raise exception 'only % of % rows could be claimed', coalesce(cardinality(v_runs), 0), p_max;
    end if;
    perform set_config('bench.runs', v_runs::text, false);
end
$$;

create function bench.bare_step(p_name text)
returns void
language plpgsql
volatile
as $$
declare
    v_runs uuid[] := current_setting('bench.runs');
begin
    insert into bare.step
    select i, s, 2, o::jsonb, null, 1, now(), now()
    from unnest(v_runs, array_fill(p_name, array[cardinality(v_runs)]), array_fill(bench.pad(), array[cardinality(v_runs)]))
        t (i, s, o);
end
$$;

create function bench.bare_finish()
returns void
language plpgsql
volatile
as $$
declare
    v_runs uuid[] := current_setting('bench.runs');
begin
    with d as (
        delete from bare.active a
        using unnest(v_runs, array_fill(bench.pad(), array[cardinality(v_runs)])) t (i, o)
        where a.run_id = t.i
        returning a.*, t.o)
    insert into bare.history
    select run_id, workflow_id, 2, worker_id, attempt, input, o::jsonb, null, created_at, started_at, now()
    from d;
end
$$;

-- The engine. Each connection is a worker.
create function bench.engine_trigger(p_count int)
returns void
language plpgsql
volatile
as $$
declare
    v_workflow text := 'bench.engine.' || pg_backend_pid();
begin
    if current_setting('bench.session', true) is null then
        perform pawl.create_workflow(v_workflow);
        perform set_config('bench.session', r.session::text, false)
        from pawl.register('bench', array[v_workflow], lease => '1 hour') r;
    end if;
    perform from pawl.trigger_many(v_workflow, array_fill(bench.pad()::json, array[p_count]));
end
$$;

create function bench.engine_claim(p_max int)
returns void
language plpgsql
volatile
as $$
declare
    v_runs uuid[];
    v_fences int[];
begin
    select array_agg(c.run_id), array_agg(c.fence) into v_runs, v_fences
    from pawl.claim(current_setting('bench.session')::bigint, p_max) c;
    if coalesce(cardinality(v_runs), 0) < p_max then
        raise exception 'only % of % runs could be claimed', coalesce(cardinality(v_runs), 0), p_max;
    end if;
    perform set_config('bench.runs', v_runs::text, false), set_config('bench.fences', v_fences::text, false);
end
$$;

-- Resends the items that were busy, as a worker does.
create function bench.engine_commit(p_runs uuid[], p_fences int[], p_kinds text[], p_names text[], p_seqs int[])
returns void
language plpgsql
volatile
as $$
declare
    v_session bigint := current_setting('bench.session');
    v_busy int[];
    v_reason text;
begin
    for v_try in 1..1000 loop
        select array_agg(c.item order by c.item) filter (where c.answer = 'busy'),
            min(c.answer || coalesce(': ' || c.reason, '')) filter (where c.answer not in ('ok', 'already', 'busy'))
        into v_busy, v_reason
        from pawl.commit(v_session, p_runs, p_fences, p_kinds, p_names,
            array_fill(bench.pad(), array[cardinality(p_runs)]), p_seqs) c;
        if v_reason is not null then
            raise exception 'a commit was answered with %', v_reason;
        end if;
        exit when v_busy is null;
        select array_agg(p_runs[i] order by i), array_agg(p_fences[i] order by i), array_agg(p_kinds[i] order by i),
            array_agg(p_names[i] order by i), array_agg(p_seqs[i] order by i)
        into p_runs, p_fences, p_kinds, p_names, p_seqs
        from unnest(v_busy) i;
    end loop;
end
$$;

create function bench.engine_step(p_step int, p_last boolean)
returns void
language plpgsql
volatile
as $$
declare
    v_runs uuid[] := current_setting('bench.runs');
    v_fences int[] := current_setting('bench.fences');
    v_kinds text[] := array_fill('step'::text, array[cardinality(v_runs)]);
    v_names text[] := array_fill('step' || p_step || '#1', array[cardinality(v_runs)]);
    v_seqs int[] := array_fill(p_step, array[cardinality(v_runs)]);
begin
    if p_last then
        v_kinds := v_kinds || array_fill('complete'::text, array[cardinality(v_runs)]);
        v_names := v_names || array_fill(null::text, array[cardinality(v_runs)]);
        v_seqs := v_seqs || array_fill(0, array[cardinality(v_runs)]);
        v_runs := v_runs || v_runs;
        v_fences := v_fences || v_fences;
    end if;
    perform bench.engine_commit(v_runs, v_fences, v_kinds, v_names, v_seqs);
end
$$;

select pawl.create_workflow(w)
from unnest(array['bench.trigger', 'bench.runtime', 'bench.pickup']) w;
