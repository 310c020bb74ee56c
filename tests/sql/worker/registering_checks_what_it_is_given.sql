-- SPDX-License-Identifier: Apache-2.0
select plan(15);

select throws_ok($$select pawl.register('', '{a}')$$, 'PW003', null, 'no name');
select throws_ok($$select pawl.register(null, '{a}')$$, 'PW003', null, 'a null name');
select throws_ok($$select pawl.register(repeat('x', 201), '{a}')$$, 'PW003', null, 'a long name');
select throws_ok($$select pawl.register('w', '{}')$$, 'PW003', null, 'nothing to handle');
select throws_ok($$select pawl.register('w', null)$$, 'PW003', null, 'null to handle');
select throws_ok($$select pawl.register('w', '{a,null}')$$, 'PW003', null, 'a null among the names');
select throws_ok($$select pawl.register('w', '{""}')$$, 'PW003', null, 'an empty name');
select throws_ok($$select pawl.register('w', '{A.B}')$$, 'PW003', null, 'capitals');
select throws_ok($$select pawl.register('w', '{a*b}')$$, 'PW003', null, 'a star inside');
select throws_ok($$select pawl.register('w', array_fill('a'::text, array[1001]))$$, 'PW003', null, 'too many');
select throws_ok($$select pawl.register('w', '{a}', array_fill('a'::text, array[101]))$$, 'PW003', null, 'too many runtimes');
select throws_ok($$select pawl.register('w', '{a}', array[repeat('a', 10001)])$$, 'PW003', null, 'a runtime that is too long');
select throws_ok($$select pawl.register('w', '{a}', client => repeat('x', 201))$$, 'PW003', null, 'a client that is too long');
select throws_ok($$select pawl.register('w', '{a}', version => repeat('x', 101))$$, 'PW003', null, 'a version that is too long');
select lives_ok($$select pawl.register('wörker 7 ☃', '{a.b,c.*,*}', '{c,null}')$$, 'names, patterns, any text as its name');

select * from finish();
