-- SPDX-License-Identifier: Apache-2.0
select plan(13);

select t.stop_clock() \g /dev/null
select pawl.create_workflow('test.flow') \g /dev/null
select t.flow('f', '[["a"]]') \g /dev/null
select throws_ok($$select pawl.trigger('test.flow', replace => true)$$, 'PW003', 'replace and debounce need a key', 'a key is needed');
select throws_ok($$select pawl.trigger('test.flow', debounce => '1 s')$$, 'PW003', 'replace and debounce need a key', 'for debounce, too');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', replace => true, key_ttl => '1 h')$$, 'PW003', null, 'no key_ttl');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', replace => true, key_while_active => true)$$, 'PW003', null, 'no key_while_active');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', debounce => '0')$$, 'PW003', null, 'more than 0');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', debounce => '11 years')$$, 'PW003', null, 'at most ten years');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', debounce => '2 s', debounce_max => '1 s')$$, 'PW003', null, 'not more than its most');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', debounce_max => '1 s')$$, 'PW003', null, 'a most alone');
select throws_ok($$select pawl.trigger('test.flow', key => 'k', debounce => '1 s', delay => '1 s')$$, 'PW003', 'debounce and delay do not go together', 'no delay');
select throws_ok($$select pawl.trigger('f', key => 'k', debounce => '1 s')$$, 'PW003', 'a flow cannot be debounced', 'no flow');
-- The end of a run frees such a key, and must not wait for a producer.
select run_id as r from pawl.trigger('test.flow', key => 'a', key_while_active => true) \gset
select throws_ok($$select pawl.trigger('test.flow', key => 'a', replace => true)$$, 'PW004', 'key "a" was used with key_while_active', 'not with a key that holds while its run is active');
select pawl.cancel(array[:'r'::uuid]) \g /dev/null
select is((select created from pawl.trigger('test.flow', key => 'a', replace => true)), true, 'once it is free it may be used');
-- A key with a time of its own.
select run_id as t from pawl.trigger('test.flow', '1', key => 't', key_ttl => '1 min') \gset
select is((select run_id from pawl.trigger('test.flow', '2', key => 't', replace => true)), :'t'::uuid, 'a key with a time of its own holds as long as the run from then on');
select * from finish();
