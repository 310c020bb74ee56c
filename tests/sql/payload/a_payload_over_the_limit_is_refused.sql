-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select pawl.create_workflow('a.flow') \g /dev/null
select lives_ok($$select pawl.trigger('a.flow', to_json(repeat('x', 1048574)))$$, 'a megabyte');
select throws_ok($$select pawl.trigger('a.flow', to_json(repeat('x', 1048575)))$$, 'PW009', 'payload has 1048577 bytes, the limit is 1048576', 'a byte more');
select throws_ok($$select pawl.trigger('a.flow', to_json(repeat('ä', 524288)))$$, 'PW009', null, 'bytes are counted, not characters');
select throws_ok($$select pawl.trigger('a.flow', metadata => to_json(repeat('x', 1048575)))$$, 'PW009', null, 'metadata');
select throws_ok($$select pawl.trigger_many('a.flow', array['1', to_json(repeat('x', 1048575))])$$, 'PW009', null, 'one of many');

select * from finish();
