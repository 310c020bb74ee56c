-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session(name => 'web-3') as s \gset
select t.run() as r \gset
select pawl.drain_worker(:s) \g /dev/null
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'it takes nothing');
select is(pawl.why(:'r'), 'Queued, but the last worker for test.flow, web-3, is draining. Start one.', 'exactly');
select t.session(name => 'web-4', lease => '1 s') \g /dev/null
select is(pawl.why(:'r'), 'Queued for 0 s: nothing is ahead of it in queue test.flow. Live workers handle the queue.', 'another will do');
select * from finish();
