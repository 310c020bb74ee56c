-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select throws_ok('select * from pawl.claim(4711)', 'PW005', null, 'no such session');
select throws_ok('select * from pawl.claim(null)', 'PW005', null, 'no session at all');
select t.session() as s \gset
select is(pawl.leave(:s), 0, 'it leaves');
select throws_ok(format('select * from pawl.claim(%s)', :s), 'PW005', null, 'one that has left');
select throws_ok(format('select * from pawl.heartbeat(%s)', :s), 'PW005', null, 'nor does its heart beat');

select * from finish();
