-- SPDX-License-Identifier: Apache-2.0
-- The clocks of Berlin go back by an hour on 27 October 2030 at 01:00 UTC. Every verb that is given a duration is called before that, by a
-- session in UTC and by one in Berlin: the durations that they write are the same, to the second.
select * from no_plan();
select pawl.test_clock_set('2030-10-26 12:00+00') \gset
create temp table took (zone text, what text, seconds numeric);

create procedure t.call_all(zone text) language plpgsql as $$
declare
    v_now timestamptz := pawl.now();
    s bigint;
    s2 bigint;
    r uuid;
    r2 uuid;
    f int;
    w text := 'w.' || lower(translate(zone, '/', '.'));
begin
    perform set_config('timezone', zone, false);
    perform pawl.create_workflow(w, run_timeout => '1 mon 3 days', step_timeout => '2 days', base => '3 days', cap => '1 mon', factor => 1, jitter => 0, max_attempts => 9);
    perform pawl.create_flow(w || '.flow', run_timeout => '9 days');
    perform pawl.add_step(w || '.flow', 'a', '{}', '{"delay": "3 days"}');
    perform pawl.create_workflow(w || '.bare');
    -- Triggers.
    select t.run_id into r from pawl.trigger(w, delay => '200 days') t;
    insert into took select zone, 'trigger: delay', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    insert into took select zone, 'trigger: run_timeout', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r;
    select t.run_id into r from pawl.trigger(w || '.bare', delay => '1 year 2 mons', key => 'k', key_ttl => '200 days') t;
    insert into took select zone, 'trigger: delay with a key', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    insert into took select zone, 'trigger: key_ttl', extract(epoch from k.expires_at - v_now) from pawl_data.key k where k.run_id = r;
    select t.run_id into r from pawl.trigger(w || '.bare', delay => '2 days', id => pawl.make_id()) t;
    insert into took select zone, 'trigger: delay with an id', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    select t.run_id into r from pawl.trigger_many(w || '.bare', array['1', '2']::json[], delay => '2 days') t where t.item = 2;
    insert into took select zone, 'trigger_many: delay', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    select t.run_id into r from pawl.trigger_many(w || '.bare', array['1', '2']::json[], ids => array[pawl.make_id(), pawl.make_id()], delay => '2 days') t where t.item = 2;
    insert into took select zone, 'trigger_many: delay with ids', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    select t.run_id into r from pawl.trigger_many(w || '.bare', array['1', '2']::json[], array['a', 'b'], delay => '2 days', key_ttl => '3 days') t where t.item = 2;
    insert into took select zone, 'trigger_many: delay with keys', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    insert into took select zone, 'trigger_many: key_ttl', extract(epoch from k.expires_at - v_now) from pawl_data.key k where k.run_id = r;
    select t.run_id into r from pawl.trigger(w || '.flow', delay => '2 days') t;
    insert into took select zone, 'trigger of a flow: delay and that of the step', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r and t.task_no > 0;
    insert into took select zone, 'trigger of a flow: run_timeout', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r;
    perform pawl.pause(array[(select t.run_id from pawl.trigger(w || '.flow') t)]);
    perform pawl.create_schedule(w, w || '.bare', every => '1 day');
    insert into took select call_all.zone, 'create_schedule: every', extract(epoch from s.next_at - v_now) from pawl_data.schedule s where s.name = w;
    -- Leases.
    select g.session into s from pawl.register('w', array[w || '*'], lease => '1 day') g;
    insert into took select zone, 'register: lease', extract(epoch from k.lease_until - v_now) from pawl_data.worker k where k.session_id = s;
    update pawl_data.worker k set lease_until = v_now where k.session_id = s;
    perform pawl.heartbeat(s);
    insert into took select zone, 'heartbeat: lease', extract(epoch from k.lease_until - v_now) from pawl_data.worker k where k.session_id = s;
    update pawl_data.worker k set lease_until = v_now - interval '1 s' where k.session_id = s;
    perform pawl.claim(s, 0);
    insert into took select zone, 'claim: lease', extract(epoch from k.lease_until - v_now) from pawl_data.worker k where k.session_id = s;
    -- Failures, waits and limits.
    select t.run_id into r from pawl.trigger(w) t;
    select c.fence into f from pawl.claim(s) c where c.run_id = r;
    insert into took select zone, 'claim: run_timeout_ms', h.run_timeout_ms / 1000 from pawl._held(s, null) h where h.run_id = r;
    insert into took select zone, 'claim: step_timeout_ms', h.step_timeout_ms / 1000 from pawl._held(s, null) h where h.run_id = r;
    perform pawl.fail(s, r, f, '{}');
    insert into took select zone, 'fail: base', extract(epoch from t.due_at - v_now) from pawl_data.task t where t.run_id = r;
    perform pawl.kill(array[r]);
    perform pawl.retry(array[r]);
    insert into took select zone, 'retry: run_timeout', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r;
    perform pawl.kill(array[r]);
    select t.run_id into r from pawl.trigger(w || '.bare', priority => 1) t;
    select c.fence into f from pawl.claim(s) c where c.run_id = r;
    perform pawl.sleep(s, r, f, 'z', '1 mon 2 days');
    insert into took select zone, 'sleep', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r;
    perform pawl.kill(array[r]);
    select t.run_id into r from pawl.trigger(w || '.bare', priority => 1) t;
    select c.fence into f from pawl.claim(s) c where c.run_id = r;
    perform pawl.wait_event(s, r, f, 'e', 'x', timeout => '2 days');
    insert into took select zone, 'wait_event: timeout', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r;
    perform pawl.kill(array[r]);
    select t.run_id into r from pawl.trigger(w || '.bare', priority => 1) t;
    select c.fence into f from pawl.claim(s) c where c.run_id = r;
    perform pawl.wait_signal(s, r, f, 'e', timeout => '2 days');
    insert into took select zone, 'wait_signal: timeout', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r;
    perform pawl.kill(array[r]);
    select t.run_id into r from pawl.trigger(w || '.bare', priority => 1) t;
    select c.fence into f from pawl.claim(s) c where c.run_id = r;
    perform pawl.cancel(array[r]);
    insert into took select zone, 'cancel: grace', extract(epoch from t.due_at - v_now) from pawl_data.wait t where t.run_id = r and t.name = 'grace';
    perform pawl.kill(array[r]);
    perform pawl.leave(s);
end $$;
create procedure t.look_back(zone text) language plpgsql as $$
declare
    v_now timestamptz := pawl.now();
    s bigint;
    r uuid;
    f int;
    v_key text;
begin
    perform set_config('timezone', zone, false);
    select g.session into s from pawl.register('w', '{counted}') g;
    foreach v_key in array array['older', 'newer'] loop
        select t.run_id into r from pawl.trigger('counted') t;
        update pawl_data.task t set triggered_at = v_now - interval '100 hours' where t.run_id = r;
        select c.fence into f from pawl.claim(s) c;
        insert into took select zone, 'wait_event: event retention, ' || v_key, ((w.value ->> 'state') = 'SUCCESS')::int from pawl.wait_event(s, r, f, 'e', 'back', v_key) w;
        perform pawl.kill(array[r]);
    end loop;
    insert into took select zone, 'metrics: since', m.succeeded from pawl.metrics('counted', since => '1 day') m;
    perform pawl.leave(s);
end $$;

call t.call_all('UTC');
call t.call_all('Europe/Berlin');
-- Looking back over the change.
select pawl.create_workflow('counted') \gset
select * from pawl.set_retention(event_retention => '2 days') \gset
select pawl.test_clock_set('2030-10-25 11:30+00') \gset
select answer from pawl.emit('back', key => 'older') \g /dev/null
select pawl.test_clock_set('2030-10-25 12:30+00') \gset
select answer from pawl.emit('back', key => 'newer') \g /dev/null
select pawl.test_clock_set('2030-10-27 12:00+00') \gset
insert into pawl_data.metric (workflow_id, tenant, minute, succeeded, failed, cancelled, seconds_sum, seconds_max, waited_sum)
select workflow_id, '', pawl.now() - (h - 0.5) * interval '1 hour', 1, 0, 0, 0, 0, 0 from pawl_data.workflow, generate_series(1, 50) h where name = 'counted';
call t.look_back('UTC');
call t.look_back('Europe/Berlin');
set timezone to 'UTC';

select is(b.seconds, u.seconds, u.what) from took u left join took b on b.what = u.what and b.zone = 'Europe/Berlin' where u.zone = 'UTC' order by u.what;
select is((select count(*) from took where zone = 'UTC'), 26::bigint, 'every call was made');
select is((select seconds from took where what = 'trigger: delay' limit 1), 200 * 86400::numeric, 'a day has 24 hours');
select is((select seconds from took where what = 'sleep' limit 1), 32 * 86400::numeric, 'a month has 30 days');
select is((select seconds from took where what = 'trigger: delay with a key' limit 1), (365.25 + 60) * 86400, 'a year has 365.25 days');
select is((select string_agg(seconds::text, ' ' order by what) from took where zone = 'UTC' and what like 'wait_event: event%'), '1 0', 'an event of 47.5 hours ago is found and one of 48.5 hours ago is not');
select * from finish();
