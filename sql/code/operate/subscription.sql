-- SPDX-License-Identifier: Apache-2.0
-- What an operator does to subscriptions: create, pause, resume, delete, list. house/subscription.sql starts their runs.

-- Refuses a subscription with options that are out of range.
create or replace function pawl._check_subscription(p_subscription pawl_data.subscription)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
declare
    v_problem text;
begin
    -- guard:subscription_name
    if p_subscription.name is null or p_subscription.name !~ '^[a-z0-9_-]+([.][a-z0-9_-]+)*$' or length(p_subscription.name) > 200 then
        perform pawl._raise('PW003', format('bad subscription name "%s"', p_subscription.name),
            'Names are dotted and lower case, of a-z, 0-9, _ and -, at most 200 characters: billing.paid');
    end if;
    -- guard:subscription_topic
    if p_subscription.topic is null or length(p_subscription.topic) not between 1 and 200 or length(p_subscription.key) > 500 then
        perform pawl._raise('PW003', 'topic must have 1 to 200 characters, key at most 500');
    end if;
    if p_subscription.input is null or p_subscription.input not in ('payload', 'event') then
        perform pawl._raise('PW003', format('unknown input "%s"', p_subscription.input), 'Use payload or event.');
    end if;
    if p_subscription.match is not null then
        perform pawl._check_payload(p_subscription.match::text);
    end if;
    v_problem := pawl._match_problem(p_subscription.match);
    -- guard:subscription_match
    if v_problem is not null then
        perform pawl._raise('PW003', v_problem);
    end if;
end
$$;
comment on function pawl._check_subscription(pawl_data.subscription) is 'refuses an invalid subscription';

-- 1. An operator that is bound to one tenant creates ten thousand subscriptions of one topic, and emits an event for each second. 2. Events
-- of other tenants are emitted. Housekeeping starts some hundred runs in a second, so without this those would wait forever.
create or replace function pawl._limit_subscriptions(p_tenant text, p_topic text)
returns void
language plpgsql
stable
set search_path to pg_catalog, pg_temp
as $$
begin
    -- guard:subscription_most
    if 100 <= (select count(*) from pawl_data.subscription s where s.tenant = p_tenant and s.topic = p_topic) then
        perform pawl._raise('PW007', 'a topic has at most 100 subscriptions', 'Let one run trigger others.');
    end if;
    -- guard:subscription_share_of_tenant
    if pawl._bound_tenant(null) is not null and 1000 <= (
        select count(*) from (select from pawl_data.subscription s where s.tenant = p_tenant limit 1000) s) then
        perform pawl._raise('PW007', 'a role that is bound to a tenant creates at most 1000 subscriptions', 'Ask an operator that is not bound to a tenant.');
    end if;
end
$$;
comment on function pawl._limit_subscriptions(text, text) is 'refuses too many subscriptions';

create or replace function pawl.create_subscription(
    name text, topic text, workflow text, key text default null, match json default null, tenant text default '', input text default 'payload')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
set lock_timeout to '10s'
as $$
declare
    v_now timestamptz := pawl.now();
    v pawl_data.subscription;
    v_old pawl_data.subscription;
    v_made int;
begin
    perform pawl._only_read_committed('create_subscription');
    v.tenant := pawl._tenant(tenant, 'create_subscription');
    v.name := name;
    v.topic := topic;
    v.key := key;
    v.match := match;
    v.input := input;
    v.workflow := (pawl._workflow(workflow)).name;
    -- 1. The input of a run of a workflow crontab.NAME is a command, which pawl worker --crontab executes. 2. A producer may emit. Without
    -- this it could execute commands on the worker's machine.
    -- guard:subscription_crontab
    if starts_with(v.workflow, 'crontab.') then
        perform pawl._raise('PW003', format('runs of workflow "%s" are triggered by schedules alone', v.workflow), 'Use a workflow with another name.');
    end if;
    perform pawl._check_subscription(v);
    v.path_set := pawl._path_set(v.match);
    v.digest := pawl._match_digest(v.match);
    for v_try in 1..20 loop
        select s.* into v_old from pawl_data.subscription s where s.tenant = v.tenant and s.name = v.name;
        if found then
            return case when (v_old.topic, v_old.key, v_old.match::text, v_old.workflow, v_old.input)
                             is distinct from (v.topic, v.key, v.match::text, v.workflow, v.input) then 'differs' else 'exists' end;
        end if;
        perform pawl._limit_subscriptions(v.tenant, v.topic);
        v.after_id := coalesce((select max(s.subscription_id) from pawl_data.subscription s where s.tenant = v.tenant and s.topic = v.topic), 0);
        -- 1. A creates a subscription of a topic, with id 5, and stays in its transaction. 2. B creates one of the same topic, with id 6, and
        -- commits. 3. An event is emitted, which sees 6. 4. A commits. Housekeeping would start a run of 5 for an event from before it. So B
        -- waits for A, at the index of after_id, and then takes a new id.
        -- guard:subscription_order
        insert into pawl_data.subscription (tenant, name, topic, key, match, path_set, digest, workflow, input, after_id, created_at)
        values (v.tenant, v.name, v.topic, v.key, v.match, v.path_set, v.digest, v.workflow, v.input, v.after_id, v_now)
        on conflict do nothing;
        get diagnostics v_made = row_count;
        if v_made = 1 then
            insert into pawl_data.action (at, what, who, detail)
            values (v_now, 'create_subscription', pawl._by(null),
                    json_build_object('subscription', v.name, 'tenant', v.tenant, 'topic', v.topic, 'workflow', v.workflow));
            return 'created';
        end if;
    end loop;
    perform pawl._raise('PW010', format('other transactions create subscriptions of topic "%s"', topic), 'Retry the call.');
    return null;
end
$$;
comment on function pawl.create_subscription(text, text, text, text, json, text, text) is
'Creates a subscription: each event of the topic that is emitted from now on starts one run of the workflow, in the tenant of the subscription. key: only events with this key. match: only events whose payload has these values, as in a wait: at most four JSON pointers with scalars. input: payload (the input of a run is the payload of its event) or event (an object: subscription, id, topic, key, at, payload). Answers created, exists, or differs (it exists with other options, which stay as they are). Housekeeping starts the runs soon after the commit of the emit: a worker or pawl keeper must run. The key of such a run is event/NAME/EVENT_ID, and its metadata has a member "event": subscription, id, topic, key, at.
If repeated: answers exists or differs, and never changes anything.
Locks: a new row of its name; waits for another transaction that creates one of the same name or topic, ten seconds at most.
Errors: PW001 another tenant than the caller''s, PW002 unknown workflow, PW003 a name, topic, key, match or input that is invalid, or a workflow crontab.NAME, PW007 the topic has 100 subscriptions, or a tenant''s own operator has created 1,000, PW008 isolation level, PW009 match over a limit, PW010 other transactions create subscriptions of the topic, 55P03 another transaction is creating it: call it again.
Limits: 100 subscriptions of a topic; a role that is bound to a tenant creates at most 1,000.';

-- Locks a subscription, waiting for two seconds at most.
create or replace function pawl._grab_subscription(p_tenant text, p_name text, p_verb text)
returns pawl_data.subscription
language plpgsql
volatile
set search_path to pg_catalog, pg_temp
as $$
declare
    v_tenant text := pawl._tenant(p_tenant, p_verb);
    v_subscription pawl_data.subscription;
    -- Real time, not pawl.now(): a test clock may stand still.
    v_until timestamptz := clock_timestamp() + interval '2 s';
begin
    loop
        -- 1. A pauses a subscription. 2. Housekeeping starts its runs, and has not committed. A waits for that, so that no run is started
        -- after A.
        -- guard:subscription_lock
        select s.* into v_subscription from pawl_data.subscription s where s.tenant = v_tenant and s.name = p_name for update skip locked;
        if found then
            return v_subscription;
        end if;
        if not exists (select from pawl_data.subscription s where s.tenant = v_tenant and s.name = p_name) then
            perform pawl._raise('PW001', format('subscription "%s" not found', p_name));
        end if;
        if clock_timestamp() >= v_until then
            perform pawl._raise('PW010', format('another transaction holds subscription "%s"', p_name), 'Retry the call.');
        end if;
        perform pg_sleep(0.01);
    end loop;
    return null;
end
$$;
comment on function pawl._grab_subscription(text, text, text) is 'locks a subscription, or raises';

create or replace function pawl.pause_subscription(name text, why text default null, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_now timestamptz := pawl.now();
    v_subscription pawl_data.subscription;
begin
    perform pawl._only_read_committed('pause_subscription');
    v_subscription := pawl._grab_subscription(tenant, name, 'pause_subscription');
    if v_subscription.paused then
        return 'already';
    end if;
    update pawl_data.subscription s
    set paused = true, paused_at = v_now, paused_by = pawl._by(by), paused_why = why
    where s.subscription_id = v_subscription.subscription_id;
    insert into pawl_data.action (at, what, who, detail)
    values (v_now, 'pause_subscription', pawl._by(by), json_build_object('subscription', name, 'tenant', v_subscription.tenant, 'why', why));
    return 'ok';
end
$$;
comment on function pawl.pause_subscription(text, text, text, text) is
'Pauses a subscription: it starts no run until resume_subscription(). Events are kept for it in the meantime, as long as events are retained. Runs that it has started continue. Answers ok or already.
If repeated: answers already.
Locks: the row of the subscription, waiting two seconds at most.
Errors: PW001 no such subscription, or another tenant than the caller''s, PW003 tenant is malformed, PW008 isolation level, PW010 another transaction holds the subscription.
Limits: the cost is constant.';

create or replace function pawl.resume_subscription(name text, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_subscription pawl_data.subscription;
begin
    perform pawl._only_read_committed('resume_subscription');
    v_subscription := pawl._grab_subscription(tenant, name, 'resume_subscription');
    if not v_subscription.paused then
        return 'already';
    end if;
    update pawl_data.subscription s
    set paused = false, paused_at = null, paused_by = null, paused_why = null, retry_at = '-infinity'
    where s.subscription_id = v_subscription.subscription_id;
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'resume_subscription', pawl._by(by), json_build_object('subscription', name, 'tenant', v_subscription.tenant));
    return 'ok';
end
$$;
comment on function pawl.resume_subscription(text, text, text) is
'Lets a paused subscription start runs again, also for the events that were emitted in the pause and are retained. To leave those out, delete the subscription and create it again. Answers ok or already.
If repeated: answers already.
Locks: the row of the subscription, waiting two seconds at most.
Errors: PW001 no such subscription, or another tenant than the caller''s, PW003 tenant is malformed, PW008 isolation level, PW010 another transaction holds the subscription.
Limits: the cost is constant.';

create or replace function pawl.delete_subscription(name text, by text default null, tenant text default '')
returns text
language plpgsql
volatile
security definer
set search_path to pg_catalog, pg_temp
as $$
declare
    v_subscription pawl_data.subscription;
begin
    perform pawl._only_read_committed('delete_subscription');
    v_subscription := pawl._grab_subscription(tenant, name, 'delete_subscription');
    delete from pawl_data.subscription s where s.subscription_id = v_subscription.subscription_id;
    insert into pawl_data.action (at, what, who, detail)
    values (pawl.now(), 'delete_subscription', pawl._by(by), json_build_object('subscription', name, 'tenant', v_subscription.tenant));
    return 'ok';
end
$$;
comment on function pawl.delete_subscription(text, text, text) is
'Deletes a subscription: it starts no run any more, also for events that it has deferred. Runs that it has started stay. A subscription of the same name that is created later gets only later events. Answers ok.
If repeated: raises PW001.
Locks: the row of the subscription, waiting two seconds at most.
Errors: PW001 no such subscription, or another tenant than the caller''s, PW003 tenant is malformed, PW008 isolation level, PW010 another transaction holds the subscription.
Limits: the cost is constant.';

create or replace function pawl.list_subscriptions(
    only_subscription text default null, only_tenant text default null, only_topic text default null, only_workflow text default null,
    cursor bigint default null, max_rows int default 100)
returns table (
    subscription text, tenant text, topic text, key text, match json, workflow text, input text, paused boolean, paused_at timestamptz,
    paused_by text, paused_why text, deferred bigint, last_error text, failed_at timestamptz, created_at timestamptz, next_cursor bigint)
language plpgsql
stable
security definer
set search_path to pg_catalog, pg_temp
set jit to off
as $$
#variable_conflict use_column
declare
    v_bound text := pawl._bound_tenant('list_subscriptions');
begin
    return query
    select s.name, s.tenant, s.topic, s.key, s.match, s.workflow, s.input, s.paused, s.paused_at, s.paused_by, s.paused_why,
           (select count(*) from (select from pawl_data.subscription_held h where h.subscription_id = s.subscription_id limit 1001) h),
           s.last_error, s.failed_at, s.created_at, s.subscription_id
    from pawl_data.subscription s
    where (v_bound is null or s.tenant = v_bound) and (only_tenant is null or s.tenant = only_tenant)
      and (only_subscription is null or s.name = only_subscription
           or right(only_subscription, 1) = '*' and starts_with(s.name, left(only_subscription, -1)))
      and (only_topic is null or s.topic = only_topic) and (only_workflow is null or s.workflow = only_workflow)
      and (cursor is null or s.subscription_id > cursor)
    order by s.subscription_id
    limit least(greatest(max_rows, 0), 1000);
end
$$;
comment on function pawl.list_subscriptions(text, text, text, text, bigint, int) is
'Subscriptions in the order of their creation, with their options. deferred: events that it gets later, because it is paused or its last run could not be started (last_error), counted up to 1,001. only_subscription may be a prefix pattern. Pass next_cursor of the last row as cursor to go on.
If repeated: returns the same, or what has happened since.
Locks: none.
Errors: none.
Limits: 1,000 rows; reads all subscriptions where the filters match few.';
