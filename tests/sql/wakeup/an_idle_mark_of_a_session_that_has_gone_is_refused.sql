-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.leave(:s) \gset
select throws_ok(format('select pawl.idle(%s)', :s), 'PW005', null, 'a session that has left');
select throws_ok('select pawl.idle(1)', 'PW005', null, 'one that never was');
select throws_ok('select pawl.idle(null)', 'PW005', null, 'none at all');
select * from finish();
