-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select t.run() as r1 \gset
select pawl.test_clock_advance('1 s') \gset
select t.run() as r2 \gset
select pawl.test_clock_advance('1 s') \gset
select t.run() as r3 \gset
select count(*) as n from pawl.claim(:s), pawl.release(:s, run_id, fence) \gset
select is(pawl.why(:'r1'), 'Queued for 2 s: nothing is ahead of it in queue test.flow. Live workers handle the queue.', 'the first');
select is(pawl.why(:'r2'), 'Queued for 1 s: 1 task is ahead of it in queue test.flow. Live workers handle the queue.', 'the second');
select is(pawl.why(:'r3'), 'Queued for 0 s: 2 tasks are ahead of it in queue test.flow. Live workers handle the queue.', 'the third');
select * from finish();
