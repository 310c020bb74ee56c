-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select throws_ok($$select * from pawl.emit(null)$$, 'PW003', null, 'no topic');
select throws_ok($$select * from pawl.emit('')$$, 'PW003', null, 'an empty topic');
select throws_ok($$select * from pawl.emit(repeat('t', 201))$$, 'PW003', null, 'a topic that is too long');
select throws_ok($$select * from pawl.emit('x', key => null)$$, 'PW003', null, 'a null key');
select throws_ok($$select * from pawl.emit('x', key => repeat('k', 501))$$, 'PW003', null, 'a key that is too long');
select throws_ok($$select * from pawl.emit('x', null)$$, 'PW009', null, 'no payload');
select throws_ok($$select * from pawl.emit('x', to_json(repeat('p', 1048576)))$$, 'PW009', null, 'a payload over a megabyte');
select throws_ok($$select * from pawl.emit('x', tenant => null)$$, 'PW003', null, 'a null tenant');
select lives_ok($$select * from pawl.emit('x', to_json(repeat('p', 1048574)))$$, 'a payload of just a megabyte is taken');
select is((select count(*) from pawl_data.event), 1::bigint, 'and only that one is stored');
select * from finish();
