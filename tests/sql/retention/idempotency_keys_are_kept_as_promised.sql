-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('test.flow') \gset
select run_id as a from pawl.trigger('test.flow', key => 'retained') \gset
select run_id as b from pawl.trigger('test.flow', key => 'active', key_while_active => true) \gset
select run_id as c from pawl.trigger('test.flow', key => 'hour', key_ttl => '1 hour') \gset
select t.later('30 min', :s);
select is((select string_agg(created::text, ' ') from unnest(array['retained', 'active', 'hour']) k, lateral pawl.trigger('test.flow', key => k)), 'false false false', 'while the runs are there');
select is((select string_agg(x.answer, ' ') from pawl.claim(:s, 10) c, lateral pawl.complete(:s, c.run_id, c.fence) x), 'ok ok ok', 'they end');
select is((select created from pawl.trigger('test.flow', key => 'active', key_while_active => true)), true, 'a key while active is free at once');
select is((select created from pawl.trigger('test.flow', key => 'hour')), false, 'a key for an hour is not');
select t.later('31 min', :s);
select is((select created from pawl.trigger('test.flow', key => 'hour')), true, 'until the hour is over');
select is((select created from pawl.trigger('test.flow', key => 'retained')), false, 'a plain key is kept as long as its run');
select * from finish();
