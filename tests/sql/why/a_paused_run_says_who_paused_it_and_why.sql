-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.run() as r \gset
select is((select answer from pawl.pause(array[:'r'::uuid], 'look', 'ann')), 'ok', 'paused');
select to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS') as at, pawl.test_clock_advance('3 hours') \gset
select is(pawl.why(:'r'), format('Paused by ann at %s (3 h ago): look. Resume it with pawl.resume().', :'at'), 'exactly');
select * from finish();
