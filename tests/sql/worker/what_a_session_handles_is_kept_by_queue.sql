-- SPDX-License-Identifier: Apache-2.0
-- A trigger finds the workers of its queue by the queue. What it finds is what the sessions themselves have listed, and no more.
select plan(11);
create function pg_temp.differs() returns bigint language sql as $$
    select count(*)
    from (select w.session_id, q from pawl_data.worker w, unnest(w.queue_ids) q where w.ended_at is null) l (session_id, queue_id)
    full join pawl_data.worker_queue h using (queue_id, session_id)
    where l.session_id is null or h.session_id is null
$$;
create function pg_temp.handled(bigint) returns bigint language sql as 'select count(*) from pawl_data.worker_queue h where h.session_id = $1';
select pawl.create_workflow(n) from unnest(array['a.one', 'a.two', 'b.one']) n \g /dev/null
select t.session('{a.*}', '30 s') as s \gset
select t.session('{a.one,b.*}', '60 s') as s2 \gset
select is(pg_temp.differs(), 0::bigint, 'as registered');
select pawl.create_workflow('a.three') \g /dev/null
select count(*) from pawl.claim(:s) \g /dev/null
select is(pg_temp.differs(), 0::bigint, 'a claim adds a queue that has appeared');
select is(pg_temp.handled(:s), 3::bigint, 'once');
select pawl.create_workflow('b.two') \g /dev/null
select pawl.heartbeat(:s2) \g /dev/null
select is(pg_temp.differs(), 0::bigint, 'so does a heartbeat');
select is(pg_temp.handled(:s2), 3::bigint, 'once');
select pawl.alter_workflow('a.one', '{"runtime": "x"}') \g /dev/null
select count(*) from pawl.claim(:s) \g /dev/null
select pawl.heartbeat(:s2) \g /dev/null
select is(pg_temp.differs(), 0::bigint, 'a queue that they may not handle any more is taken away');
select is((select handled from pawl.trigger('a.one')), false, 'which a trigger reports');
select pawl.leave(:s2) \g /dev/null
select is(pg_temp.handled(:s2), 0::bigint, 'a session that left handles nothing');
select is((select string_agg(handled::text, ' ') from unnest(array['a.two', 'b.one']) n, pawl.trigger(n)), 'true false', 'and the other one what it did');
select pawl.test_clock_advance('40 s') \g /dev/null
select pawl.housekeep() \g /dev/null
select is(pg_temp.handled(:s), 0::bigint, 'neither does one that was swept');
select is(pg_temp.differs(), 0::bigint, 'nothing is left over');
select * from finish();
