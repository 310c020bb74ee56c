-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session(name => 'web-3') as s \gset
select t.run() as r \gset
select pawl.drain_worker(:s) \g /dev/null
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'it takes nothing');
select is(pawl.why(:'r'), 'It is queued, but no live worker handles test.flow; the last one, web-3, is to leave; start one.', 'exactly');
select t.session(name => 'web-4', lease => '1 s') \g /dev/null
select is(pawl.why(:'r'), 'It is queued for 0 s: nothing is in queue test.flow before it, and live workers handle the queue.', 'another will do');
select * from finish();
