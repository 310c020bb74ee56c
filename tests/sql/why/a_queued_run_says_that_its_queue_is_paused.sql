-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.session() as s \gset
select t.run() as r \gset
select is(pawl.pause_queue('test.flow', null, 'ann'), 'ok', 'paused');
select is(pawl.why(:'r'), format('Queued, but ann paused queue test.flow at %s. Resume it with pawl.resume_queue().', to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS')), 'exactly');
select * from finish();
