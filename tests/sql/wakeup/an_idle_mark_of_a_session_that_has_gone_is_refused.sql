-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.leave(:s) \gset
select throws_ok(format('select pawl.rest(%s)', :s), 'PW005', null, 'a session that has left');
select throws_ok('select pawl.rest(1)', 'PW005', null, 'one that never was');
select throws_ok('select pawl.rest(null)', 'PW005', null, 'none at all');
select * from finish();
