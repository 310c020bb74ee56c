-- SPDX-License-Identifier: Apache-2.0
-- The matrix of tenants: each verb, called with what belongs to tenant "victim" by each kind of role that has no business there.
-- A test calls t.victim(), makes roles with t.foreign_roles(), and then looks at t.foreign_matrix().

-- One row or more for each public function: a call, and its outcome for a role that holds all sets of rights in another tenant: an
-- SQLSTATE, or the rows, of which ids are written as ID; null: any rows, but none of them may tell of the victim. {run} stands for
-- each of the victim's runs in turn. is_shared: tells nothing of any tenant, so that a role of several tenants may call it.
-- creates: the outcome with an id that does not exist is another one, because the call creates something under it.
create table t.foreign_call (
    verb text not null,
    call text not null,
    outcome text,
    is_shared boolean not null default false,
    creates boolean not null default false
);
insert into t.foreign_call (verb, call, outcome, is_shared) values
    ('now', 'select pawl.now()', null, true),
    ('errors', 'select code from pawl.errors()', null, true),
    ('make_id', 'select pawl.make_id()', 'ID', true),
    ('slot_of', 'select pawl.slot_of({run}) is null', 'f', true),
    ('epoch', 'select pawl.epoch()', '1', true),
    ('step_token', 'select length(pawl.step_token({session}, {held}, 1, ''x'')) > 0', 't', true),
    ('list_steps', 'select step from pawl.list_steps(''victim.steps'')', null, false),
    -- Producers.
    ('trigger', 'select created from pawl.trigger(''victim.coded'', tenant => ''victim'')', 'PW001', false),
    ('trigger', 'select created from pawl.trigger(''victim.coded'', ''{"other": 1}'', key => ''canary-key'')', 't', false),
    ('trigger_many', 'select created from pawl.trigger_many(''victim.coded'', array[''{}'']::json[], tenant => ''victim'')', 'PW001', false),
    ('trigger_many', 'select created from pawl.trigger_many(''victim.coded'', array[''{}'']::json[], keys => ''{canary-key}'')', 't', false),
    ('emit', 'select * from pawl.emit(''canary-topic'', tenant => ''victim'')', 'PW001', false),
    ('emit', 'select answer, woken from pawl.emit(''canary-topic'')', '(ok,0)', false),
    ('signal', 'select pawl.signal({run}, ''go'')', 'PW001', false),
    ('get_run', 'select * from pawl.get_run({run})', 'PW001', false),
    ('result', 'select * from pawl.result({run})', 'PW001', false),
    ('results', 'select * from pawl.results(array[{run}])', '(ID,NOT_FOUND,,)', false),
    ('cancel', 'select * from pawl.cancel(array[{run}])', '(ID,not_found)', false),
    ('why', 'select pawl.why({run})', 'PW001', false),
    -- Workers.
    ('register', 'select count(*) from pawl.register(''foreign'', ''{*}'')', '1', false),
    ('claim', 'select c.* from pawl.register(''foreign'', ''{*}'') r cross join lateral pawl.claim(r.session, 100, quiet => true) c', '', false),
    ('claim', 'select * from pawl.claim({session}, 10)', 'PW005', false),
    ('claim', 'select * from pawl.claim({session}, 10, request => 7)', 'PW005', false),
    ('heartbeat', 'select * from pawl.heartbeat({session})', 'PW005', false),
    ('rest', 'select pawl.rest({session})', 'PW005', false),
    ('pass_on', 'select pawl.pass_on({session})', 'PW005', false),
    ('leave', 'select pawl.leave({session})', 'PW005', false),
    ('held', 'select * from pawl.held({session})', 'PW005', false),
    ('commit', 'select answer from pawl.commit({session}, array[{held}], array[1], ''{complete}'', payloads => ''{1}'')', 'refused', false),
    ('commit_each', 'select answer from pawl.commit_each({session}, array[{held}], array[1], ''{complete}'', payloads => ''{1}'')', 'refused', false),
    ('step', 'select answer from pawl.step({session}, {held}, 1, ''x'')', 'refused', false),
    ('complete', 'select answer from pawl.complete({session}, {held}, 1)', 'refused', false),
    ('fail', 'select answer from pawl.fail({session}, {held}, 1, final => true)', 'refused', false),
    ('sleep', 'select answer from pawl.sleep({session}, {held}, 1, ''x'', ''1 s'')', 'refused', false),
    ('wait_event', 'select answer from pawl.wait_event({session}, {held}, 1, ''x'', ''canary-topic'')', 'refused', false),
    ('wait_signal', 'select answer from pawl.wait_signal({session}, {held}, 1, ''x'')', 'refused', false),
    ('release', 'select answer from pawl.release({session}, {held}, 1)', 'refused', false),
    ('tick', 'call pawl.tick()', '2D000', true),
    ('tick', 'select pawl._tick_piece(1), pawl._tick_piece(2), pawl._tick_piece(3), pawl._tick_piece(4), pawl._tick_piece(5), pawl._tick_piece(6), pawl._tick_piece(7)', '(f,f,f,f,f,f,f)', false),
    ('record_step', 'select pawl.record_step(pawl.step_token({session}, {held}, 1, ''x''), ''1'')', 'PW005', false),
    -- Operators.
    ('create_workflow', 'select pawl.create_workflow(''foreign.made'')', 'PW007', false),
    ('alter_workflow', 'select pawl.alter_workflow(''victim.coded'', ''{"priority": 1}'')', 'PW007', false),
    ('create_flow', 'select pawl.create_flow(''foreign.made'')', 'PW007', false),
    ('add_step', 'select pawl.add_step(''victim.steps'', ''more'')', 'PW007', false),
    ('apply_flow', 'select pawl.apply_flow(''{"flow": "victim.steps", "steps": []}'')', 'PW007', false),
    ('delete_flow', 'select pawl.delete_flow(''victim.steps'')', 'PW007', false),
    ('kill', 'select * from pawl.kill(array[{run}])', '(ID,not_found)', false),
    ('pause', 'select * from pawl.pause(array[{run}])', '(ID,not_found)', false),
    ('resume', 'select * from pawl.resume(array[{run}])', '(ID,not_found)', false),
    ('wake', 'select * from pawl.wake(array[{run}])', '(ID,not_found,)', false),
    ('retry', 'select * from pawl.retry(array[{run}])', '(ID,not_found)', false),
    ('rollback_retry', 'select * from pawl.rollback_retry(array[{run}])', '(ID,not_found)', false),
    ('rollback_skip', 'select pawl.rollback_skip({run}, ''undone#1'')', 'not_found', false),
    ('fork', 'select answer from pawl.fork({run})', 'not_found', false),
    ('purge', 'select * from pawl.purge(array[{run}])', '(ID,not_found)', false),
    ('pause_workflow', 'select pawl.pause_workflow(''victim.coded'')', 'PW007', false),
    ('resume_workflow', 'select pawl.resume_workflow(''victim.coded'')', 'PW007', false),
    ('preview_bulk', 'select runs from pawl.preview_bulk(''cancel'', ''{}'')', '0', false),
    ('begin_bulk', 'select pawl.begin_bulk(''cancel'', ''{"tenant": "victim"}'')', 'PW001', false),
    ('stop_bulk', 'select pawl.stop_bulk(1)', 'not_found', false),
    ('pause_all', 'select pawl.pause_all()', 'PW007', false),
    ('resume_all', 'select pawl.resume_all()', 'PW007', false),
    ('pause_queue', 'select pawl.pause_queue(''victim.coded'')', 'PW007', false),
    ('resume_queue', 'select pawl.resume_queue(''victim.coded'')', 'PW007', false),
    ('drain_worker', 'select pawl.drain_worker({session})', 'PW007', false),
    ('raise_epoch', 'select pawl.raise_epoch(''because'')', 'PW007', false),
    ('set_retention', 'select * from pawl.set_retention(''1 day'')', 'PW007', false),
    ('set_session_limit', 'select pawl.set_session_limit(1)', 'PW007', false),
    ('set_notify', 'select * from pawl.set_notify(''off'')', 'PW007', false),
    ('set_lane', 'select pawl.set_lane(''victim.coded'', null, 5, tenant => ''victim'')', 'PW007', false),
    ('pause_lane', 'select pawl.pause_lane(''victim.coded'', null, tenant => ''victim'')', 'PW007', false),
    ('resume_lane', 'select pawl.resume_lane(''victim.coded'', null, tenant => ''victim'')', 'PW007', false),
    ('create_schedule', 'select pawl.create_schedule(''foreign.made'', ''victim.coded'', every => ''1 day'', tenant => ''victim'')', 'PW001', false),
    ('create_schedule', 'select pawl.create_schedule(''canary-schedule'', ''victim.coded'', every => ''1 day'')', 'created', false),
    ('pause_schedule', 'select pawl.pause_schedule(''canary-schedule'')', 'PW001', false),
    ('pause_schedule', 'select pawl.pause_schedule(''canary-schedule'', tenant => ''victim'')', 'PW001', false),
    ('resume_schedule', 'select pawl.resume_schedule(''canary-schedule'')', 'PW001', false),
    ('delete_schedule', 'select pawl.delete_schedule(''canary-schedule'')', 'PW001', false),
    ('backfill_schedule', 'select * from pawl.backfill_schedule(''canary-schedule'', pawl.now(), pawl.now())', 'PW001', false),
    ('create_subscription', 'select pawl.create_subscription(''foreign.made'', ''canary-news'', ''victim.coded'', tenant => ''victim'')', 'PW001', false),
    ('create_subscription', 'select pawl.create_subscription(''canary-subscription'', ''canary-news'', ''victim.coded'')', 'created', false),
    ('pause_subscription', 'select pawl.pause_subscription(''canary-subscription'')', 'PW001', false),
    ('pause_subscription', 'select pawl.pause_subscription(''canary-subscription'', tenant => ''victim'')', 'PW001', false),
    ('resume_subscription', 'select pawl.resume_subscription(''canary-subscription'')', 'PW001', false),
    ('delete_subscription', 'select pawl.delete_subscription(''canary-subscription'')', 'PW001', false),
    ('create_token', 'select pawl.create_token(''foreign-made'', sha256(''1''), ''{reader}'', tenant => ''victim'')', 'PW001', false),
    ('create_token', 'select pawl.create_token(''canary-token'', sha256(''1''), ''{reader}'') > 0', 't', false),
    ('revoke_token', 'select pawl.revoke_token(''canary-token'')', 'PW001', false),
    ('revoke_token', 'select pawl.revoke_token(''canary-token'', tenant => ''victim'')', 'PW001', false),
    ('list_tokens', 'select * from pawl.list_tokens()', '', false),
    ('housekeep', 'select pawl.housekeep()', 'PW007', false),
    ('approve', 'select pawl.approve({run}, ''canary-approval'')', 'PW001', false),
    ('reject', 'select pawl.reject({run}, ''canary-approval'')', 'PW001', false),
    -- Readers.
    ('list_runs', 'select * from pawl.list_runs()', '', false),
    ('list_runs', 'select * from pawl.list_runs(only_tenant => ''victim'')', '', false),
    ('list_runs', 'select * from pawl.list_runs(only_key => ''canary-key'')', '', false),
    ('list_runs', 'select * from pawl.list_runs(only_tag => ''canary-tag'')', '', false),
    ('history', 'select * from pawl.history({run})', 'PW001', false),
    ('notes', 'select * from pawl.notes({run})', 'PW001', false),
    ('follow', 'select * from pawl.follow({run})', 'PW001', false),
    ('list_children', 'select * from pawl.list_children({run})', 'PW001', false),
    ('list_failures', 'select * from pawl.list_failures()', '', false),
    ('list_failures', 'select * from pawl.list_failures(only_tenant => ''victim'')', '', false),
    ('count_runs', 'select * from pawl.count_runs()', '', false),
    ('count_runs', 'select * from pawl.count_runs(only_tenant => ''victim'')', '', false),
    ('find', 'select * from pawl.find({run}::text)', '', false),
    ('find', 'select * from pawl.find(''canary-key'')', '', false),
    ('find', 'select * from pawl.find(''canary-tag'')', '', false),
    ('find', 'select * from pawl.find(''canary-worker'')', '', false),
    ('find', 'select * from pawl.find(''canary-topic'', only_tenant => ''victim'')', '', false),
    ('list_states', 'select * from pawl.list_states(array[{run}])', '', false),
    ('list_ended', 'select e.* from generate_series(0, 9) n, pawl.list_ended(pawl.now() - n * interval ''1 min'') e', '', false),
    ('list_ended', 'select * from pawl.list_ended(pawl.now() - interval ''30 s'', only_tenant => ''victim'')', '', false),
    ('list_waits', 'select * from pawl.list_waits({run})', '', false),
    ('list_waits', 'select * from pawl.list_waits(only_tenant => ''victim'')', '', false),
    ('list_bulks', 'select count(*) from pawl.list_bulks()', '0', false),
    ('list_pauses', 'select count(*) from pawl.list_pauses()', '0', false),
    ('list_queues', 'select sum(ready), sum(held), max(oldest_ready), sum(workers) from pawl.list_queues()', '(0,0,,0)', false),
    ('list_lanes', 'select * from pawl.list_lanes(''victim.coded'')', '', false),
    ('list_lanes', 'select * from pawl.list_lanes(''victim.coded'', only_tenant => ''victim'')', '', false),
    ('list_workers', 'select * from pawl.list_workers(ended => true)', '', false),
    ('list_workflows', 'select sum(workers) from pawl.list_workflows()', '0', false),
    ('get_workflow', 'select workers from pawl.get_workflow(''victim.coded'')', '0', false),
    ('list_schedules', 'select * from pawl.list_schedules()', '', false),
    ('list_schedules', 'select * from pawl.list_schedules(only_tenant => ''victim'')', '', false),
    ('list_skips', 'select * from pawl.list_skips(''canary-schedule'')', 'PW001', false),
    ('preview_schedule', 'select count(*) from pawl.preview_schedule(''0 0 * * *'')', '10', false),
    ('preview_schedule', 'select * from pawl.preview_schedule(name => ''canary-schedule'')', 'PW001', false),
    ('why_schedule', 'select pawl.why_schedule(''canary-schedule'')', 'PW001', false),
    ('list_subscriptions', 'select * from pawl.list_subscriptions()', '', false),
    ('list_subscriptions', 'select * from pawl.list_subscriptions(only_tenant => ''victim'')', '', false),
    ('list_events', 'select * from pawl.list_events()', '', false),
    ('list_events', 'select * from pawl.list_events(only_tenant => ''victim'')', '', false),
    ('metrics', 'select sum(succeeded + failed + cancelled), max(oldest_ready) from pawl.metrics(since => ''1 day'')', '(0,)', false),
    ('prometheus', 'select pawl.prometheus()', 'PW007', false),
    ('list_actions', 'select * from pawl.list_actions()', 'PW007', false),
    ('list_grants', 'select * from pawl.list_grants()', 'PW007', false),
    ('doctor', 'select * from pawl.doctor()', 'PW007', false),
    -- The owner.
    ('act_as_token', 'select who from pawl.act_as_token(sha256(''canary-token''))', '42501', false),
    ('grant_role', 'select pawl.grant_role(''{me}'', ''operator'')', '42501', false),
    ('revoke_role', 'select pawl.revoke_role(''{me}'', ''reader'')', '42501', false);
insert into t.foreign_call (verb, call, outcome, creates) values
    ('trigger', 'select * from pawl.trigger(''victim.coded'', id => {run})', 'PW001', true),
    ('trigger', 'select * from pawl.trigger(''victim.coded'', id => {run}, id_is_new => true)', 'PW001', true),
    ('trigger_many', 'select * from pawl.trigger_many(''victim.coded'', array[''{}'']::json[], ids => array[{run}])', 'PW001', true),
    ('trigger_many', 'select * from pawl.trigger_many(''victim.coded'', array[''{}'']::json[], ids => array[{run}], ids_are_new => true)', 'PW001', true),
    ('emit', 'select * from pawl.emit(''x'', id => {event})', 'PW001', true);

-- What the victim has. absent: a name for nothing, in the same form.
create table t.victim_thing (
    name text primary key,
    is_run boolean not null,
    value text not null,
    absent text not null
);

-- Tenant "victim" with a worker, a run in each state, an event, a key, notes, figures. The word canary is in all that is its own.
create function t.victim()
returns void
language plpgsql
as $$
declare
    v_session bigint := t.session(name => 'canary-worker', lease => '1 day');
    v_name text;
    v_run uuid;
    v_fence int;
begin
    perform pawl.create_workflow('victim.coded', max_attempts => 1);
    perform t.flow('victim.steps', '[["one"], ["two", "one"]]');
    foreach v_name in array array['ended', 'failed', 'stuck', 'waiting', 'asking', 'held'] loop
        select r.run_id into v_run from pawl.trigger('victim.coded', '{"card": "canary-input"}', key => case v_name when 'held' then 'canary-key' end,
            tenant => 'victim', metadata => '{"note": "canary-metadata"}', tags => array['canary-tag']) r;
        select o.fence into v_fence from t.one(v_session) o;
        perform t.answer(v_session, v_run, v_fence, 'note', payload => 'canary-note');
        case v_name
            when 'ended' then perform pawl.complete(v_session, v_run, v_fence, '"canary-output"');
            when 'failed' then perform pawl.fail(v_session, v_run, v_fence, '{"message": "canary-error"}', final => true);
            when 'stuck' then
                perform t.answer(v_session, v_run, v_fence, 'begin', 'undone#1', option => '{"undo": {"handler": "canary-undo"}}');
                perform t.answer(v_session, v_run, v_fence, 'step', 'undone#1', '1');
                perform pawl.fail(v_session, v_run, v_fence, '{"message": "canary-error"}', final => true);
            when 'waiting' then
                perform pawl.wait_event(v_session, v_run, v_fence, 'w', 'canary-topic');
                perform t.answer(v_session, v_run, v_fence, 'suspend');
            when 'asking' then
                perform t.answer(v_session, v_run, v_fence, 'approval', 'canary-approval#1', option => '{"form": {}}');
                perform t.answer(v_session, v_run, v_fence, 'suspend');
            else null;
        end case;
        insert into t.victim_thing values (v_name, true, v_run, pawl.make_id());
    end loop;
    select r.run_id into v_run from pawl.trigger('victim.coded', '{"card": "canary-input"}', tenant => 'victim') r;
    insert into t.victim_thing values ('ready', true, v_run, pawl.make_id());
    select r.run_id into v_run from pawl.trigger('victim.steps', '{"card": "canary-input"}', tenant => 'victim') r;
    insert into t.victim_thing values ('flow', true, v_run, pawl.make_id());
    perform pawl.create_subscription('canary-subscription', 'canary-news', 'victim.coded', match => '{"/card": "canary-payload"}', tenant => 'victim');
    insert into t.victim_thing select 'event', false, e.event_id, pawl.make_id() from pawl.emit('canary-news', '{"card": "canary-payload"}', tenant => 'victim') e;
    insert into t.victim_thing values ('session', false, v_session, v_session + 1000);
    perform pawl.create_token('canary-token', sha256('canary-token'), '{producer,operator,reader}', 'victim');
    perform pawl.create_schedule('canary-schedule', 'victim.coded', every => '1 day', tenant => 'victim', input => '{"card": "canary-input"}');
    insert into pawl_data.metric select q.workflow_id, pawl.now() - interval '1 min', 'victim', 5, 0, 0, 1, 1, 1 from pawl_data.workflow q where q.name = 'victim.coded';
    update pawl_data.worker w set tenant = 'victim' where w.session_id = v_session;
end
$$;
comment on function t.victim() is 'a tenant with something of every kind';

-- All that the victim has, and all that tenants share.
create function t.victim_digest()
returns text
language plpgsql
as $$
declare
    v_digest text := '';
    v_part text;
    v_query text;
begin
    foreach v_query in array array['task x where tenant = ''victim''', 'run x where tenant = ''victim''', 'step x', 'note x', 'audit x', 'wait x where tenant = ''victim''',
            'signal x', 'event x where tenant = ''victim''', 'key x where tenant = ''victim''', 'worker x where tenant = ''victim''', 'topic x where tenant = ''victim''',
            'metric x', 'metric_total x', 'workflow x', 'queue x', 'pause x', 'flow_step x', 'setting x', 'granted x', 'action x where detail ->> ''tenant'' is distinct from ''foreign''', 'schedule x where tenant = ''victim''', 'schedule_skip x',
            'subscription x where tenant = ''victim''', 'token x where tenant = ''victim''', 'subscription_event x where tenant = ''victim''', 'subscription_held x'] loop
        execute format('select md5(string_agg(x::text, '' '' order by x::text)) from pawl_data.%s', v_query) into v_part;
        v_digest := v_digest || coalesce(v_part, '-');
    end loop;
    return md5(v_digest);
end
$$;
comment on function t.victim_digest() is 'changes with everything of the victim and everything that tenants share';

-- What a call comes to when a role makes it; then it is rolled back.
create function t.outcome_for(role name, call text, digest text)
returns text
language plpgsql
as $$
declare
    v_outcome text;
begin
    begin
        execute format('set session authorization %I', role);
        begin
            if starts_with(call, 'call ') then
                execute call;
                v_outcome := '';
            else
                execute format('select coalesce(string_agg(x::text, '' ''), '''') from (%s) x', call) into v_outcome;
            end if;
        exception when others then
            v_outcome := sqlstate;
        end;
        reset session authorization;
        v_outcome := regexp_replace(v_outcome, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'ID', 'g');
        -- One column is written without parentheses.
        v_outcome := regexp_replace(v_outcome, '^\(([^,()]*)\)$', '\1');
        if v_outcome !~ '^[0-9A-Z]{5}$' and t.victim_digest() <> digest then
            v_outcome := v_outcome || ' and has changed something';
        end if;
        raise exception using errcode = 'TT000', message = v_outcome;
    exception when sqlstate 'TT000' then
        v_outcome := sqlerrm;
    end;
    return v_outcome;
end
$$;
comment on function t.outcome_for(name, text, text) is 'the outcome of a call by a role, without what it does';

-- The kinds of roles that are foreign to the victim, made new: bound to another tenant, a member of that, bound to several tenants, once
-- granted all of the victim, a member of the victim's role by admin option alone, and one that was never named.
create function t.foreign_roles()
returns table (kind text, role name)
language plpgsql
as $$
declare
    v_suffix text := '_' || current_database();
begin
    for kind, role in
        select k, (k || v_suffix)::name
        from unnest(array['tv', 'bound', 'other', 'member', 'ambiguous', 'revoked', 'admin', 'stranger']) k
    loop
        execute format('create role %I login', role);
    end loop;
    perform pawl.grant_role(('bound' || v_suffix)::name, r, 'foreign') from unnest(array['producer', 'worker', 'operator', 'reader']) r;
    perform pawl.grant_role(('other' || v_suffix)::name, r, 'other') from unnest(array['producer', 'worker', 'operator', 'reader']) r;
    perform pawl.grant_role(('tv' || v_suffix)::name, r, 'victim') from unnest(array['producer', 'worker', 'operator', 'reader']) r;
    perform pawl.grant_role(('revoked' || v_suffix)::name, r, 'victim') from unnest(array['producer', 'worker', 'operator', 'reader']) r;
    perform pawl.revoke_role(('revoked' || v_suffix)::name, r) from unnest(array['producer', 'worker', 'operator', 'reader']) r;
    execute format('grant %I to %I', 'bound' || v_suffix, 'member' || v_suffix);
    execute format('grant %I, %I to %I', 'bound' || v_suffix, 'other' || v_suffix, 'ambiguous' || v_suffix);
    if current_setting('server_version_num')::int >= 160000 then
        execute format('grant %I to %I with admin true, inherit false, set false', 'tv' || v_suffix, 'admin' || v_suffix);
    else
        execute format('alter role %I noinherit', 'admin' || v_suffix);
        execute format('grant %I to %I with admin option', 'tv' || v_suffix, 'admin' || v_suffix);
    end if;
    return query select k, (k || v_suffix)::name from unnest(array['bound', 'member', 'ambiguous', 'revoked', 'admin', 'stranger']) k;
end
$$;
comment on function t.foreign_roles() is 'roles that are foreign to the victim, by kind';

create function t.drop_foreign_roles()
returns void
language plpgsql
as $$
declare
    v_role name;
begin
    foreach v_role in array array['tv', 'bound', 'other', 'member', 'ambiguous', 'revoked', 'admin', 'stranger'] loop
        execute format('drop owned by %I', v_role || '_' || current_database());
    end loop;
    foreach v_role in array array['member', 'ambiguous', 'admin', 'tv', 'bound', 'other', 'revoked', 'stranger'] loop
        execute format('drop role %I', v_role || '_' || current_database());
    end loop;
end
$$;
comment on function t.drop_foreign_roles() is 'drops what t.foreign_roles() made';

-- Every call by every kind of role, with what it came to and what it should: one row where they differ.
create function t.foreign_matrix(kinds text[] default array['bound', 'member', 'ambiguous', 'revoked', 'admin', 'stranger'])
returns table (kind text, call text, outcome text, expected text)
language plpgsql
as $$
#variable_conflict use_column
declare
    v record;
    v_digest text := t.victim_digest();
    v_call text;
    v_absent text;
    v_role name;
    v_thing record;
begin
    for v in
        select c.*, r.name as run
        from t.foreign_call c
        join (select t.name, t.is_run from t.victim_thing t union all select null, false) r on (strpos(c.call, '{run}') > 0) = r.is_run and (r.is_run or r.name is null)
    loop
        foreach kind in array kinds loop
            v_role := kind || '_' || current_database();
            v_call := replace(replace(v.call, '{run}', '{' || coalesce(v.run, '') || '}'), '{me}', v_role);
            v_absent := v_call;
            for v_thing in select * from t.victim_thing loop
                v_call := replace(v_call, '{' || v_thing.name || '}', case when v_thing.name = 'session' then v_thing.value else quote_literal(v_thing.value) || '::uuid' end);
                v_absent := replace(v_absent, '{' || v_thing.name || '}', case when v_thing.name = 'session' then v_thing.absent else quote_literal(v_thing.absent) || '::uuid' end);
            end loop;
            call := replace(v.call, '{run}', '{' || coalesce(v.run, '') || '}');
            outcome := t.outcome_for(v_role, v_call, v_digest);
            if kind not in ('bound', 'member') and (kind <> 'ambiguous' or not v.is_shared) then
                expected := '42501';
            else
                expected := coalesce(v.outcome, case when outcome ~ 'canary|changed|^[0-9A-Z]{5}$' then 'nothing of the victim' else outcome end);
            end if;
            if outcome is distinct from expected then
                return next;
            elsif not v.creates and v_absent <> v_call then
                expected := outcome;
                outcome := t.outcome_for(v_role, v_absent, v_digest);
                if outcome is distinct from expected then
                    call := call || ' with ids of nothing';
                    return next;
                end if;
            end if;
        end loop;
    end loop;
end
$$;
comment on function t.foreign_matrix(text[]) is 'calls that came to something else than they should';

-- Verbs that no row of the matrix calls.
create function t.verbs_without_a_call()
returns text
language sql
as $$
    select string_agg(p.oid::regprocedure::text, ', ')
    from pg_proc p
    where p.pronamespace = 'pawl'::regnamespace and p.proname not like '\_%' and p.proname not like 'test\_clock%'
      and not exists (select from t.foreign_call c where c.verb = p.proname)
$$;
comment on function t.verbs_without_a_call() is 'public functions that the matrix lacks';

-- Privileges of a kind of role on relations, on functions that none of its sets holds, or for the creation of objects.
create function t.foreign_privileges(kinds text[] default array['bound', 'member', 'ambiguous', 'revoked', 'admin', 'stranger'])
returns text
language sql
as $$
    select string_agg(x, '; ' order by x)
    from unnest(kinds) k
    cross join lateral (
        select format('%s: %s', k, c.oid::regclass)
        from pg_class c
        where c.relnamespace = 'pawl_data'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
          and (has_table_privilege(k || '_' || current_database(), c.oid, 'select, insert, update, delete, truncate, references, trigger')
               or has_any_column_privilege(k || '_' || current_database(), c.oid, 'select, insert, update, references'))
        union all
        select format('%s: %s', k, c.oid::regclass)
        from pg_class c
        where c.relnamespace = 'pawl_data'::regnamespace and c.relkind = 'S'
          and has_sequence_privilege(k || '_' || current_database(), c.oid, 'usage, select, update')
        union all
        select format('%s: %s', k, p.oid::regprocedure)
        from pg_proc p
        where p.pronamespace = 'pawl'::regnamespace
          and p.proname <> all (case when k in ('bound', 'member', 'ambiguous')
                                     then pawl._functions_of('producer') || pawl._functions_of('worker') || pawl._functions_of('operator') || pawl._functions_of('reader')
                                     else '{}' end)
          and has_function_privilege(k || '_' || current_database(), p.oid, 'execute')
        union all
        select format('%s: create', k)
        where has_schema_privilege(k || '_' || current_database(), 'pawl', 'create')
           or has_schema_privilege(k || '_' || current_database(), 'pawl_data', 'create, usage')
    ) p (x)
$$;
comment on function t.foreign_privileges(text[]) is 'privileges that no foreign role may have';
