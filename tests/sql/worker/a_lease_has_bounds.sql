-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select lives_ok($$select pawl.register('w', '{a}', lease => '500 ms')$$, '500 ms');
select lives_ok($$select pawl.register('w', '{a}', lease => '1 day')$$, 'a day');
select throws_ok($$select pawl.register('w', '{a}', lease => '499 ms')$$, 'PW003', null, 'too short');
select throws_ok($$select pawl.register('w', '{a}', lease => '1 day 1 s')$$, 'PW003', null, 'too long');
select throws_ok($$select pawl.register('w', '{a}', lease => '-1 s')$$, 'PW003', null, 'negative');
select throws_ok($$select pawl.register('w', '{a}', lease => null)$$, 'PW003', null, 'none');
select is((select heartbeat_every from pawl.register('w', '{a}')), '10 s'::interval, 'the default is 30 s, three heartbeats for each');

select * from finish();
