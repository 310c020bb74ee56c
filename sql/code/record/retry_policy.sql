-- SPDX-License-Identifier: Apache-2.0
-- When a failed attempt is repeated.

create or replace function pawl._backoff(
    p_failures int, p_base interval, p_factor double precision, p_cap interval, p_jitter double precision)
returns interval
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    -- In logarithms first, because factor ^ failures may be more than a number can hold.
    v_log double precision := ln(greatest(date_part('epoch', p_base), 1e-6)) + (p_failures - 1) * ln(p_factor);
    -- guard:backoff_cap
    v_seconds double precision := least(date_part('epoch', p_cap), exp(least(v_log, 700)));
begin
    -- guard:backoff_jitter
    v_seconds := v_seconds * (1 + p_jitter * (2 * random() - 1));
    return make_interval(secs => v_seconds);
end
$$;
comment on function pawl._backoff(int, interval, double precision, interval, double precision) is 'min(cap, base * factor ^ (failures - 1)) * (1 +- jitter)';

create or replace function pawl._millis(p_value text, p_default interval)
returns interval
language plpgsql
immutable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- greatest() would take a null for nothing and answer 0.
    if p_value is null then
        return p_default;
    end if;
    return make_interval(secs => least(greatest(p_value::double precision, 0), 1e14) / 1000);
end
$$;
comment on function pawl._millis(text, interval) is 'milliseconds from an option as an interval';

-- Returns the policy of a workflow, changed by the options of a step of its flow.
create or replace function pawl._step_policy(p_workflow pawl_data.workflow, p_step int)
returns pawl_data.workflow
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    select coalesce(s.max_attempts, p_workflow.max_attempts), coalesce(s.base, p_workflow.base),
           coalesce(s.factor, p_workflow.factor), coalesce(s.cap, p_workflow.cap), coalesce(s.jitter, p_workflow.jitter)
    into p_workflow.max_attempts, p_workflow.base, p_workflow.factor, p_workflow.cap, p_workflow.jitter
    from pawl_data.flow_step s where s.workflow_id = p_workflow.workflow_id and s.step_no = p_step;
    return p_workflow;
end
$$;
comment on function pawl._step_policy(pawl_data.workflow, int) is 'the retry policy of a step of a flow';

-- Counts a failure of a step (or of the handler itself, p_name empty) and decides. n: failures so far. final: no more attempts. due: when
-- the next attempt may start.
create or replace function pawl._count_failure(
    p_task pawl_data.task, p_name text, p_error json, p_option json, p_now timestamptz, out n int, out final boolean,
    out due timestamptz)
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow;
    v_policy json := p_option -> 'policy';
begin
    select w.* into v_workflow
    from pawl_data.queue q
    join pawl_data.workflow w on w.workflow_id = q.workflow_id
    where q.queue_id = p_task.queue_id;
    if p_task.task_no > 0 then
        v_workflow := pawl._step_policy(v_workflow, pawl._step_of(p_task.task_no));
    end if;
    n := 1 + coalesce((p_task.retries -> p_name ->> 'n')::int, 0);
    -- guard:failure_once
    if (p_option ->> 'failure')::int < n then
        -- The caller counts its failures, and this one is counted already: only the reply was lost.
        n := n - 1;
        final := false;
        due := (p_task.retries -> p_name ->> 'due')::timestamptz;
        return;
    end if;
    final := coalesce((p_option ->> 'permanent')::boolean, false)
             or n >= coalesce((v_policy ->> 'max_attempts')::int, v_workflow.max_attempts);
    if final then
        return;
    end if;
    due := p_now + coalesce(
        pawl._millis(p_option ->> 'retry_after_ms', null),
        pawl._backoff(n, pawl._millis(v_policy ->> 'base_ms', v_workflow.base),
            greatest(coalesce((v_policy ->> 'factor')::double precision, v_workflow.factor), 1),
            pawl._millis(v_policy ->> 'cap_ms', v_workflow.cap),
            least(greatest(coalesce((v_policy ->> 'jitter')::double precision, v_workflow.jitter), 0), 1)));
    -- If this claim is lost without a start item, recorded makes the next claim load this failed attempt.
    update pawl_data.task t
    set recorded = true, retries = (
        select json_object_agg(e.key, e.value)
        from (
            select o.key, o.value from json_each(coalesce(p_task.retries, '{}')) o where o.key <> p_name
            union all
            select p_name, json_build_object('n', n, 'of', coalesce((v_policy ->> 'max_attempts')::int, v_workflow.max_attempts),
                'due', due, 'error', p_error)
        ) e (key, value))
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
    perform pawl._audit(p_task.run_id, p_task.task_no, p_task.kept, p_now, 'attempt_failed',
        json_build_object('step', nullif(p_name, ''), 'failures', n, 'next_attempt_at', due, 'error', p_error));
end
$$;
comment on function pawl._count_failure(pawl_data.task, text, json, json, timestamptz) is 'counts a failed try and decides whether and when there is another';

-- A step was recorded: resets the crashes of its task and the failed attempts of that step.
create or replace function pawl._note_progress(p_task pawl_data.task, p_name text)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
begin
    if p_task.crashes = 0 and p_task.retries -> p_name is null and p_task.recorded then
        return;
    end if;
    update pawl_data.task t
    set crashes = 0, recorded = true,
        retries = (select json_object_agg(o.key, o.value) from json_each(t.retries) o where o.key <> p_name)
    where t.run_id = p_task.run_id and t.task_no = p_task.task_no;
end
$$;
comment on function pawl._note_progress(pawl_data.task, text) is 'resets what counts only between records';
