-- SPDX-License-Identifier: Apache-2.0
-- The waits are copies of one that was opened by a worker, because a thousand one by one take their time.
select plan(8);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'w', 'one')), 'ok', 'a run waits');
select count(*) as n from pawl.trigger_many('test.flow', array_fill('{}'::json, array[1099])) \gset
create temporary table pattern as select w.topic, w.key, w.digest from pawl_data.wait w;
create function wait_for(topic text) returns bigint language sql as $$
    update pawl_data.task set place = 'w', due_at = 'infinity', reason = 'event', recorded = true, attached = true;
    insert into pawl_data.wait (run_id, task_no, name, kind, seq, tenant, topic, key, digest, created_at, due_at)
    select k.run_id, 0, wait_for.topic || '#1', 'e', 1, '', wait_for.topic, p.key, p.digest, pawl.now(), 'infinity'
    from pawl_data.task k, pattern p
    on conflict do nothing;
    select count(*) from pawl_data.wait
$$;
delete from pawl_data.wait;
select is(wait_for('one'), 1100::bigint, 'and 1,099 more');
select is((select woken from pawl.emit('one')), 1000, 'the emit wakes a thousand');
select t.later('1 s', :s);
select is((select count(*) from pawl_data.wait), 0::bigint, 'housekeeping wakes the rest');
select is((select count(*) from pawl_data.step where state = 's'), 1100::bigint, 'each has its record');
update pawl_data.topic set topic = 'two';
select is(wait_for('two'), 1100::bigint, 'they wait for another event');
select is((select woken from pawl.emit('two')), 1000, 'again the emit wakes a thousand');
select t.later('1 s', :s);
select is((select count(*) from pawl_data.wait), 0::bigint, 'and housekeeping the rest, also the second time');
select * from finish();
