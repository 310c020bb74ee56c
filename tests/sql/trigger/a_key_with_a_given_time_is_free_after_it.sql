-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('a.flow') \g /dev/null
select run_id as r from pawl.trigger('a.flow', key => 'k', key_ttl => '1 hour') \gset
select pawl.test_clock_advance('59 min 59 s') \g /dev/null
select is((select run_id from pawl.trigger('a.flow', key => 'k', key_ttl => '1 hour')), :'r'::uuid, 'taken');
select pawl.test_clock_advance('1 s') \g /dev/null
select is((select created from pawl.trigger('a.flow', '{"other": 1}', key => 'k', key_ttl => '1 hour')), true, 'free, although the first run waits still');
select throws_ok($$select pawl.trigger('a.flow', '{"third": 1}', key => 'k', key_ttl => '1 hour')$$, 'PW004', null, 'and taken anew');
select throws_ok($$select pawl.trigger('a.flow', key => 'z', key_ttl => '-1 s')$$, 'PW003', null, 'a negative time');
select throws_ok($$select pawl.trigger('a.flow', key => 'z', key_ttl => '1001 years')$$, 'PW003', null, 'one without an end');
select throws_ok($$select pawl.trigger_many('a.flow', array['{}']::json[], key_ttl => '1001 years')$$, 'PW003', null, 'also of many');
select throws_ok($$select pawl.trigger('a.flow', key => 'z', key_ttl => '1 s', key_while_active => true)$$, 'PW003', null, 'two lifetimes at once');

select * from finish();
