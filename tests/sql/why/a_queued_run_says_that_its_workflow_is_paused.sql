-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.session() as s \gset
select t.run() as r \gset
select is(pawl.pause_workflow('test.flow', 'deploy', 'ann'), 'ok', 'paused');
select is(pawl.why(:'r'), format('Queued, but ann paused workflow test.flow at %s: deploy. Resume it with pawl.resume_workflow().', to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS')), 'exactly');
select * from finish();
