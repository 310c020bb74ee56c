-- SPDX-License-Identifier: Apache-2.0
-- Marks name transactions in progress. After one of them has ended, a claim scans from the last mark that is older than it: not from the
-- beginning, which would be far away under a held snapshot.
select plan(7);

select t.run() as run \gset
select queue_id as queue from pawl_data.task limit 1 \gset
-- Three marks; their transactions have the ids 110, 150 and none. The last one names two others.
insert into pawl_data.queue_mark (queue_id, priority, marked_at, walked_at, due_from, xid, open_xids) values
    (:queue, 100, pawl.now() - interval '900 ms', pawl.now() - interval '1 s', '-infinity', '110', '{}'),
    (:queue, 100, pawl.now() - interval '500 ms', pawl.now() - interval '1 s', pawl.now() - interval '900 ms', '150', '{}'),
    (:queue, 100, pawl.now() - interval '100 ms', pawl.now() - interval '1 s', pawl.now() - interval '300 ms', null, '{105,120,160}');

create function pg_temp.start(snapshot text)
returns text
language sql
as $$
    select case when isfinite(s.due_from) then (pawl.now() - s.due_from)::text else 'the beginning' end
    from pawl._segments((select t.queue_id from pawl_data.task t limit 1), pawl.now(), snapshot::pg_snapshot) s
    where s.priority_from = 100 and s.priority_to = 100
$$;

select is(pg_temp.start('100:200:105,120,160'), '00:00:00.3', 'all of them are in progress: at the newest mark');
select is(pg_temp.start('100:200:105,120'), '00:00:00.5', 'one has ended: at the mark before it');
select is(pg_temp.start('100:200:105'), '00:00:00.9', 'two have ended: at the mark before the older one');
select is(pg_temp.start('100:200:120,160'), 'the beginning', 'the one that has ended is older than all marks');
select is(pg_temp.start('200:200:'), 'the beginning', 'all have ended');
select is((
    select s.walked_at from pawl._segments(:queue, pawl.now(), '200:200:') s where s.priority_to = 100), pawl.now(),
    'then the next mark counts from this scan');
select is((
    select s.walked_at from pawl._segments(:queue, pawl.now(), '100:200:105') s where s.priority_to = 100), pawl.now() - interval '1 s',
    'otherwise from the earlier one');

select * from finish();
