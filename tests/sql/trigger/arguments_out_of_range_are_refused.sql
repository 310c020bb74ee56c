-- SPDX-License-Identifier: Apache-2.0
select plan(19);

select pawl.create_workflow('a.flow') \g /dev/null
select throws_ok($$select pawl.trigger('a.flow', null)$$, 'PW009', null, 'no input');
select throws_ok($$select pawl.trigger('a.flow', key => '')$$, 'PW003', null, 'an empty key');
select throws_ok($$select pawl.trigger('a.flow', key => repeat('x', 501))$$, 'PW003', null, 'a long key');
select throws_ok($$select pawl.trigger('a.flow', priority => -1)$$, 'PW003', null, 'a negative priority');
select throws_ok($$select pawl.trigger('a.flow', priority => 32768)$$, 'PW003', null, 'a large priority');
select throws_ok($$select pawl.trigger('a.flow', delay => '11 years')$$, 'PW003', null, 'a long delay');
select throws_ok($$select pawl.trigger('a.flow', tenant => null)$$, 'PW003', null, 'a null tenant');
select throws_ok($$select pawl.trigger('a.flow', tenant => repeat('x', 201))$$, 'PW003', null, 'a long tenant');
select throws_ok($$select pawl.trigger('a.flow', limit_key => repeat('x', 501))$$, 'PW003', null, 'a long limit key');
select throws_ok($$select pawl.trigger_many('a.flow', array['1']::json[], limit_keys => array[repeat('x', 501)])$$, 'PW003', null, 'a long limit key among many');
select throws_ok($$select pawl.trigger_many('a.flow', array['1', null]::json[])$$, 'PW009', null, 'a null among many');
select throws_ok($$select pawl.trigger_many('a.flow', array['1']::json[], keys => '{}')$$, 'PW003', null, 'lists of different lengths');
select throws_ok($$select pawl.trigger_many('a.flow', array_fill('1'::json, array[10001]))$$, 'PW009', null, 'too many');
select throws_ok($$select pawl.trigger_many('a.flow', array['1']::json[], key_ttl => '0')$$, 'PW003', null, 'a key of no lifetime, though nobody has one');
select throws_ok($$select pawl.trigger_many('a.flow', array['1']::json[], key_ttl => '1 s', key_while_active => true)$$, 'PW003', null, 'two lifetimes');
select is_empty($$select * from pawl.trigger_many('a.flow', '{}')$$, 'none at all');
select is_empty($$select * from pawl.trigger_many('a.flow', null)$$, 'no list');
select is((select count(*) from pawl_data.task), 0::bigint, 'no run was made');
select lives_ok($$select pawl.trigger('a.flow', key => 'Schlüssel ☃ ' || chr(1), tenant => 'Mandant Ü', delay => '-5 s')$$, 'any text is a key');

select * from finish();
