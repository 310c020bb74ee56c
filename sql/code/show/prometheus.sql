-- SPDX-License-Identifier: Apache-2.0
-- Metrics in the text format of Prometheus, version 0.0.4.

create or replace function pawl._metric_label(p_value text)
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- 1. The name of a schedule ends in a backslash, or has a quote or a line feed in it. Without this the text would end the label early,
    -- and the scraper would refuse all metrics.
    -- guard:metric_label
    return '"' || replace(replace(replace(p_value, E'\\', E'\\\\'), '"', E'\\"'), E'\n', E'\\n') || '"';
end
$$;
comment on function pawl._metric_label(text) is 'the value of a label, quoted';

-- One metric with all its samples; nothing if it has none.
create or replace function pawl._metric_text(p_name text, p_type text, p_help text, p_samples text[])
returns text
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_samples is null or cardinality(p_samples) = 0 then
        return '';
    end if;
    return format(E'# HELP %s %s\n# TYPE %s %s\n%s\n', p_name, p_help, p_name, p_type,
                  (select string_agg(p_name || s, E'\n' order by n) from unnest(p_samples) with ordinality u (s, n)));
end
$$;
comment on function pawl._metric_text(text, text, text, text[]) is 'a metric with its samples, as text';

-- The samples of a histogram: each bucket counts itself and all lower ones.
create or replace function pawl._histogram_samples(p_label text, p_buckets bigint[], p_sum double precision)
returns text[]
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_bounds double precision[] := pawl._bounds();
    v_samples text[] := array[]::text[];
    v_count bigint := 0;
begin
    for v_no in 1..cardinality(v_bounds) + 1 loop
        v_count := v_count + coalesce(p_buckets[v_no], 0);
        v_samples := v_samples || format('_bucket{%s,le="%s"} %s', p_label, coalesce(v_bounds[v_no]::text, '+Inf'), v_count);
    end loop;
    return v_samples || array[format('_sum{%s} %s', p_label, p_sum), format('_count{%s} %s', p_label, v_count)];
end
$$;
comment on function pawl._histogram_samples(text, bigint[], double precision) is 'the samples of a histogram';

-- Ended runs since the installation.
create or replace function pawl._metrics_of_runs()
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_total record;
    v_label text;
    v_ended text[] := array[]::text[];
    v_seconds text[] := array[]::text[];
    v_waited text[] := array[]::text[];
begin
    for v_total in
        -- Workflows without their own label are added up. A name has no parentheses, so that none is called as they are.
        select coalesce(n.name, '(others)') as name, sum(t.succeeded) as succeeded, sum(t.failed) as failed, sum(t.cancelled) as cancelled,
               sum(t.seconds_sum) as seconds_sum, sum(t.waited_sum) as waited_sum,
               array(select sum(x.seconds_buckets[b])::bigint from unnest(array_agg(t)) x, generate_series(1, 15) b group by b order by b) as seconds_buckets,
               array(select sum(x.waited_buckets[b])::bigint from unnest(array_agg(t)) x, generate_series(1, 15) b group by b order by b) as waited_buckets
        from pawl_data.metric_total t
        -- guard:metric_names
        left join pawl_data.workflow n on n.workflow_id = t.workflow_id and t.named
        group by 1
        order by 1
    loop
        v_label := 'workflow=' || pawl._metric_label(v_total.name);
        v_ended := v_ended || array[
            format('{%s,outcome="success"} %s', v_label, v_total.succeeded), format('{%s,outcome="error"} %s', v_label, v_total.failed),
            format('{%s,outcome="cancelled"} %s', v_label, v_total.cancelled)];
        v_seconds := v_seconds || pawl._histogram_samples(v_label, v_total.seconds_buckets, v_total.seconds_sum);
        v_waited := v_waited || pawl._histogram_samples(v_label, v_total.waited_buckets, v_total.waited_sum);
    end loop;
    return pawl._metric_text('pawl_runs_ended_total', 'counter', 'Runs that have ended, one for each round. Counted until pawl_counted_until_timestamp_seconds.', v_ended)
        || pawl._metric_text('pawl_run_duration_seconds', 'histogram', 'Time from the first start of a round to its end.', v_seconds)
        || pawl._metric_text('pawl_run_wait_seconds', 'histogram', 'Time from the trigger of a run to its first start, or to its end if it never started.', v_waited);
end
$$;
comment on function pawl._metrics_of_runs() is 'metrics of ended runs';

create or replace function pawl._metrics_of_queues()
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_queue record;
    v_label text;
    v_ready text[] := array[]::text[];
    v_oldest text[] := array[]::text[];
    v_held text[] := array[]::text[];
    v_workers text[] := array[]::text[];
    v_paused text[] := array[]::text[];
begin
    for v_queue in select q.* from pawl.list_queues(500) q loop
        v_label := '{queue=' || pawl._metric_label(v_queue.queue) || '} ';
        v_ready := v_ready || (v_label || v_queue.ready);
        v_oldest := v_oldest || (v_label || coalesce(greatest(date_part('epoch', v_queue.oldest_ready), 0), 0));
        v_held := v_held || (v_label || v_queue.held);
        v_workers := v_workers || (v_label || v_queue.workers);
        v_paused := v_paused || (v_label || v_queue.paused::int);
    end loop;
    return pawl._metric_text('pawl_queues', 'gauge', 'Queues. Only the first 500 of them, by name, have metrics of their own.',
                             array[' ' || (select count(*) from pawl_data.queue)])
        || pawl._metric_text('pawl_queue_ready', 'gauge', 'Tasks that a worker can claim now, counted up to 10001.', v_ready)
        || pawl._metric_text('pawl_queue_oldest_ready_seconds', 'gauge', 'For how long the first ready task has been due; 0 if there is none.', v_oldest)
        || pawl._metric_text('pawl_queue_held', 'gauge', 'Tasks that workers hold.', v_held)
        || pawl._metric_text('pawl_queue_workers', 'gauge', 'Live workers that handle the queue.', v_workers)
        || pawl._metric_text('pawl_queue_paused', 'gauge', '1 if the queue or its workflow is paused.', v_paused);
end
$$;
comment on function pawl._metrics_of_queues() is 'metrics of queues';

create or replace function pawl._metrics_of_work(p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set enable_bitmapscan to off
set jit to off
as $$
begin
    return pawl._metric_text('pawl_tasks', 'gauge', 'Tasks that are not ready: they wait for something, or are suspect. Counted up to 10001.', array[
            format('{state="waiting"} %s', (select count(*) from (select from pawl_data.task t where t.place = 'w' limit 10001) c)),
            format('{state="suspect"} %s', (select count(*) from (select from pawl_data.task t where t.place = 's' limit 10001) c))])
        || pawl._metric_text('pawl_waits', 'gauge', 'Open waits for an event or for an approval, counted up to 10001.', array[
            format('{kind="event"} %s', (select count(*) from (select from pawl_data.wait w where w.kind = 'e' limit 10001) c)),
            format('{kind="approval"} %s', (select count(*) from (select from pawl_data.wait w where w.kind = 'a' limit 10001) c))])
        || pawl._metric_text('pawl_lanes', 'gauge', 'Lanes, which workflows with a limit by key have, among the first 10001.', array(
            select format('{state="%s"} %s', s.name, (
                select count(*) from (select l.state from pawl_data.lane l limit 10001) c where c.state = s.state))
            from (values ('open', 'r'::"char"), ('full', 'f'), ('rate', 'w'), ('empty', 'e')) s (name, state)))
        || pawl._metric_text('pawl_lane_tasks', 'gauge', 'Tasks that wait in lanes, and held tasks of lanes, counted up to 10001.', array[
            format('{state="waiting"} %s', (select count(*) from (select from pawl_data.lane_task w limit 10001) c)),
            format('{state="held"} %s', (select count(*) from (select from pawl_data.lane_hold h limit 10001) c))])
        -- 1. All workers of a database are live, and none has work. 2. An alert asks whether any is live. So a worker that rests is live, too;
        -- how many of the live ones rest is a metric of its own, and the states add up to all sessions.
        -- guard:metric_idle_lives
        || pawl._metric_text('pawl_workers', 'gauge', 'Worker sessions that have not ended; live ones take runs.', array(
            select format('{state="%s"} %s', s.state, (
                select count(*) from pawl_data.worker w
                where w.ended_at is null and replace(pawl._session_state(w, p_now), 'idle', 'live') = s.state))
            from unnest(array['live', 'starved', 'draining', 'lost']) s (state)))
        || pawl._metric_text('pawl_workers_idle', 'gauge', 'Live workers that rest, because there was nothing to claim when they last looked.', array[' ' || (
            select count(*) from pawl_data.worker w where w.ended_at is null and pawl._session_state(w, p_now) = 'idle')]);
end
$$;
comment on function pawl._metrics_of_work(timestamptz) is 'metrics of waits and workers';

create or replace function pawl._metrics_of_schedules(p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_schedule record;
    v_label text;
    v_fired text[] := array[]::text[];
    v_not text[] := array[]::text[];
    v_failing text[] := array[]::text[];
begin
    for v_schedule in select s.* from pawl_data.schedule s order by s.schedule_id limit 500 loop
        v_label := format('schedule=%s,tenant=%s', pawl._metric_label(v_schedule.name), pawl._metric_label(v_schedule.tenant));
        v_fired := v_fired || format('{%s} %s', v_label, v_schedule.fired);
        v_not := v_not || array[format('{%s,reason="overlap"} %s', v_label, v_schedule.skipped), format('{%s,reason="missed"} %s', v_label, v_schedule.missed)];
        v_failing := v_failing || format('{%s} %s', v_label, (v_schedule.last_error is not null)::int);
    end loop;
    return pawl._metric_text('pawl_schedules', 'gauge', 'Schedules. Only the first 500 of them, in the order of their creation, have metrics of their own.', array[
            format('{state="active"} %s', (select count(*) from pawl_data.schedule s where not s.paused)),
            format('{state="paused"} %s', (select count(*) from pawl_data.schedule s where s.paused))])
        || pawl._metric_text('pawl_schedule_fired_total', 'counter', 'Nominal times at which a run was triggered.', v_fired)
        || pawl._metric_text('pawl_schedule_skipped_total', 'counter', 'Nominal times at which no run was triggered.', v_not)
        || pawl._metric_text('pawl_schedule_failing', 'gauge', '1 if the last nominal time could not be fired.', v_failing)
        || pawl._metric_text('pawl_schedules_overdue_seconds', 'gauge', 'For how long the first schedule has been due that was not fired; 0 if none is.', array[' ' ||
            coalesce((select greatest(date_part('epoch', p_now - s.fire_at), 0) from pawl_data.schedule s
                      where not s.paused and s.fire_at < 'infinity' order by s.fire_at limit 1), 0)]);
end
$$;
comment on function pawl._metrics_of_schedules(timestamptz) is 'metrics of schedules';

create or replace function pawl._metrics_of_house(p_now timestamptz)
returns text
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_setting pawl_data.setting;
    v_until timestamptz := pawl._counted_until(p_now);
begin
    select s.* into v_setting from pawl_data.setting s where s.only_row;
    return pawl._metric_text('pawl_counted_until_timestamp_seconds', 'gauge', 'Until when ended runs are counted; 0 if none has been.',
                             array[' ' || coalesce(date_part('epoch', v_until), 0)])
        || pawl._metric_text('pawl_time_seconds', 'gauge', 'The clock of the database, which all times are compared with.', array[' ' || date_part('epoch', p_now)])
        || pawl._metric_text('pawl_tick_overdue_seconds', 'gauge', 'For how long housekeeping has been due.',
                             array[' ' || greatest(pawl._tick_overdue(p_now), 0) / 1000000.0])
        || pawl._metric_text('pawl_chore_overdue_seconds', 'gauge', 'For how long a chore of housekeeping has been due.', array(
            select format('{chore="%s"} %s', c.chore, greatest(date_part('epoch', p_now - c.due_at), 0))
            from pawl_data.chore c where isfinite(c.due_at) order by c.chore))
        || pawl._metric_text('pawl_chore_failing', 'gauge', '1 if the last attempt of a chore, or of a piece of housekeeping, failed.', array(
            select format('{chore="%s"} %s', c.chore, (c.last_error is not null)::int) from pawl_data.chore c order by c.chore))
        || pawl._metric_text('pawl_partitions_until_timestamp_seconds', 'gauge', 'Until when partitions exist; housekeeping makes them seven days ahead.', array(
            select ' ' || date_part('epoch', v_setting.partitions_until) where isfinite(v_setting.partitions_until)))
        || pawl._metric_text('pawl_epoch', 'gauge', 'The epoch, which an operator raises.', array[' ' || v_setting.epoch])
        || pawl._metric_text('pawl_schema_version', 'gauge', 'The version of the tables.', array[' ' || v_setting.schema_version]);
end
$$;
comment on function pawl._metrics_of_house(timestamptz) is 'metrics of housekeeping and of the installation';

create or replace function pawl.prometheus()
returns text
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set extra_float_digits to 1
as $$
declare
    v_now timestamptz := pawl.now();
begin
    -- The totals and the names of schedules are of all tenants.
    perform pawl._only_unbound('prometheus');
    return pawl._metrics_of_runs() || pawl._metrics_of_queues() || pawl._metrics_of_work(v_now) || pawl._metrics_of_schedules(v_now) || pawl._metrics_of_house(v_now);
end
$$;
comment on function pawl.prometheus() is
'All metrics in the text format of Prometheus, version 0.0.4, so that any program that can send one query serves them: runs that have ended by workflow and outcome with histograms of their durations and waits, queues, waits, workers, schedules, housekeeping, partitions, the epoch. Counters are stored, so they do not fall when workers or the server are restarted; only a failover that loses commits takes them back. Ended runs are counted by housekeeping about two minutes after their minute, and pawl_counted_until_timestamp_seconds says how far it is. The number of series is bounded: the first 500 workflows that had an ended run have their own label, all others share the label (others); likewise the first 500 queues and schedules, without the others.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: PW007 the role is bound to one tenant.
Limits: 500 workflows, queues and schedules; 10,000 tasks counted for each queue.';
