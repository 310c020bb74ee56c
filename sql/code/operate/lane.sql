-- SPDX-License-Identifier: Apache-2.0
-- What an operator sets for one lane: a limit or a rate of its own, a pause. Claims and housekeeping read it in _lane_terms().

-- The row of a lane, or one without settings. Locks the workflow: operators that change lanes of one workflow take turns.
create or replace function pawl._grab_lane(p_verb text, p_workflow text, p_key text, p_tenant text)
returns pawl_data.lane_setting
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_workflow pawl_data.workflow;
    v_lane pawl_data.lane_setting;
begin
    perform pawl._only_read_committed(p_verb);
    -- 1. An operator limits the runs of tenant A. 2. A role that is bound to A raises the limit. Limits protect other tenants.
    -- guard:lane_unbound
    perform pawl._only_unbound(p_verb);
    perform pawl._check_trigger(null, null, null, p_key);
    select w.* into v_workflow from pawl_data.workflow w where w.name = p_workflow for no key update;
    if not found then
        perform pawl._raise('PW002', format('unknown workflow "%s"', p_workflow), 'Create it with pawl.create_workflow.');
    end if;
    if v_workflow.flow then
        -- A run of a flow is many tasks, each of which would be counted.
        -- guard:lane_flow
        perform pawl._raise('PW003', format('"%s" is a flow, which has no lanes', p_workflow),
            'Let a step of the flow be a child run of a workflow, and set the limit there.');
    end if;
    v_lane.queue_id := v_workflow.queue_id;
    v_lane.tenant := pawl._tenant(p_tenant, null);
    v_lane.lane := pawl._lane_of(v_lane.tenant, p_key);
    v_lane.limit_key := p_key;
    return coalesce((select s from pawl_data.lane_setting s where s.queue_id = v_lane.queue_id and s.lane = v_lane.lane), v_lane);
end
$$;
comment on function pawl._grab_lane(text, text, text, text) is 'the settings of a lane';

-- Writes the row of a lane, whose workflow the caller has locked, and lets claims look at the lane again.
create or replace function pawl._put_lane(p_lane pawl_data.lane_setting, p_now timestamptz)
returns void
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
set enable_seqscan to off
set jit to off
as $$
begin
    delete from pawl_data.lane_setting s where s.queue_id = p_lane.queue_id and s.lane = p_lane.lane;
    if p_lane.key_limit is not null or p_lane.key_rate is not null or p_lane.weight is not null or p_lane.paused_at is not null then
        if (select count(*) from (select from pawl_data.lane_setting s where s.queue_id = p_lane.queue_id limit 10000) c) = 10000 then
            -- guard:lane_settings_max
            perform pawl._raise('PW009', 'a workflow has settings for at most 10000 lanes', 'Set key_limit of the workflow instead.');
        end if;
        insert into pawl_data.lane_setting select p_lane.*;
        -- Runs of a workflow that had no lanes wait in lanes from now on.
        -- guard:set_lane_makes_lanes
        insert into pawl_data.lane_queue (queue_id, while_run)
        select p_lane.queue_id, w.limit_while = 'run' from pawl_data.workflow w where w.queue_id = p_lane.queue_id
        on conflict on constraint lane_queue_pkey do nothing;
        update pawl_data.workflow w set laned = true where w.queue_id = p_lane.queue_id and not w.laned;
    end if;
    -- 1. A lane is full, or paused, or waits for its rate, and no claim visits it. 2. Its limit or rate is raised, or the lane is resumed. Without the delta no claim would
    -- visit it until one of its tasks has ended. After a pause a claim visits the lane once, and finds it shut.
    -- guard:lane_set_delta
    insert into pawl_data.lane_delta (queue_id, lane, kind, tenant, limit_key)
    values (p_lane.queue_id, p_lane.lane, 'f', p_lane.tenant, p_lane.limit_key);
    -- 1. No task waits in the lane. 2. A trigger adds one, and commits; the worker that it notifies finds the lane full, and rests. 3. This call
    -- commits. If it notified a worker only where it has seen a task, this one would wait for the next look of a worker.
    -- guard:lane_set_wakes
    perform pawl._wake_one(p_lane.queue_id, p_lane.tenant, p_now);
end
$$;
comment on function pawl._put_lane(pawl_data.lane_setting, timestamptz) is 'writes the settings of a lane';

create or replace function pawl.set_lane(
    workflow text, limit_key text, key_limit int default null, weight int default null, why text default null, by text default null, tenant text default '',
    key_rate text default null, key_burst int default null)
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
declare
    v_now timestamptz := pawl.now();
    v_lane pawl_data.lane_setting := pawl._grab_lane('set_lane', workflow, limit_key, tenant);
begin
    if key_limit not between 1 and 100000 then
        -- guard:lane_limit_range
        perform pawl._raise('PW003', 'key_limit must be between 1 and 100000', 'Null is the limit of the workflow; pawl.pause_lane() stops a lane.');
    end if;
    if weight not between 1 and 100 then
        -- guard:lane_weight_range
        perform pawl._raise('PW003', 'weight must be between 1 and 100', 'Null is the weight 1.');
    end if;
    perform pawl._check_rate(key_rate, key_burst);
    if (v_lane.key_limit, v_lane.weight, v_lane.key_rate, v_lane.key_burst)
       is not distinct from (set_lane.key_limit, set_lane.weight, set_lane.key_rate, set_lane.key_burst) then
        return 'already';
    end if;
    v_lane.key_limit := set_lane.key_limit;
    v_lane.weight := set_lane.weight;
    v_lane.key_rate := set_lane.key_rate;
    v_lane.key_burst := set_lane.key_burst;
    v_lane.set_at := v_now;
    v_lane.set_by := pawl._by(by);
    v_lane.set_why := why;
    perform pawl._put_lane(v_lane, v_now);
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'set_lane', pawl._by(by),
            json_build_object('workflow', workflow, 'limit_key', limit_key, 'tenant', v_lane.tenant, 'key_limit', key_limit, 'weight', weight,
                'key_rate', key_rate, 'key_burst', key_burst, 'why', why));
    return 'ok';
end
$$;
comment on function pawl.set_lane(text, text, int, int, text, text, text, text, int) is
'Sets how many runs with one tenant and limit_key workers may hold at a time, instead of key_limit of the workflow (1 to 100000; null: that of the workflow), how many of them may start, as key_rate and key_burst of alter_workflow() say (null: as those of the workflow), and its weight: how many times as many runs as other keys it gives when keys take turns (1 to 100; null: 1). The call sets all of them. limit_key null means runs of the tenant without a limit_key. The workflow needs no key_limit or key_rate: other keys then have none. Runs that are held go on; they count, except those that were claimed while the workflow had no limit and no lane with a setting. Answers ok or already.
If repeated: answers already.
Locks: the row of the workflow, two seconds at most.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 a limit, rate, burst or weight out of range, a malformed tenant or key, or a flow, PW007 the role is bound to one tenant, PW008 isolation level, PW009 too many lanes; 55P03 another transaction changes the workflow: call it again.
Limits: 10,000 lanes with settings in a workflow.';

create or replace function pawl.pause_lane(workflow text, limit_key text, why text default null, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
declare
    v_now timestamptz := pawl.now();
    v_lane pawl_data.lane_setting := pawl._grab_lane('pause_lane', workflow, limit_key, tenant);
begin
    if v_lane.paused_at is not null then
        return 'already';
    end if;
    v_lane.paused_at := v_now;
    v_lane.paused_by := pawl._by(by);
    v_lane.paused_why := why;
    perform pawl._put_lane(v_lane, v_now);
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'pause_lane', v_lane.paused_by, json_build_object('workflow', workflow, 'limit_key', limit_key, 'tenant', v_lane.tenant, 'why', why));
    return 'ok';
end
$$;
comment on function pawl.pause_lane(text, text, text, text, text) is
'Pauses the runs of a workflow with one tenant and limit_key (null: runs of the tenant without a limit_key): triggers are accepted, none of these runs is claimed, held runs continue. Runs with other keys go on. Answers ok or already.
If repeated: answers already.
Locks: the row of the workflow, two seconds at most.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 a malformed tenant or key, or a flow, PW007 the role is bound to one tenant, PW008 isolation level, PW009 too many lanes; 55P03 another transaction changes the workflow: call it again.
Limits: 10,000 lanes with settings in a workflow.';

create or replace function pawl.resume_lane(workflow text, limit_key text, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '2s'
as $$
declare
    v_now timestamptz := pawl.now();
    v_lane pawl_data.lane_setting := pawl._grab_lane('resume_lane', workflow, limit_key, tenant);
begin
    if v_lane.paused_at is null then
        return 'already';
    end if;
    v_lane.paused_at := null;
    v_lane.paused_by := null;
    v_lane.paused_why := null;
    perform pawl._put_lane(v_lane, v_now);
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'resume_lane', pawl._by(by), json_build_object('workflow', workflow, 'limit_key', limit_key, 'tenant', v_lane.tenant));
    return 'ok';
end
$$;
comment on function pawl.resume_lane(text, text, text, text) is
'Lets runs that pause_lane() has paused be claimed again. Answers ok or already.
If repeated: answers already.
Locks: the row of the workflow, two seconds at most.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 a malformed tenant or key, or a flow, PW007 the role is bound to one tenant, PW008 isolation level; 55P03 another transaction changes the workflow: call it again.
Limits: the cost is constant.';
