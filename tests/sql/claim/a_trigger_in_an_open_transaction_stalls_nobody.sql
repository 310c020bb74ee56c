-- SPDX-License-Identifier: Apache-2.0
select plan(4);

set statement_timeout = '60s';
select t.session(lease => '1 day') as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select pawl.trigger('a.flow', key => 'old', key_ttl => '1 min') \g /dev/null
select t.later('1 hour', :s) \g /dev/null
select t.other_holds($$select string_agg(r.run_id::text, ' ') from pawl.trigger('a.flow', key => 'old', key_ttl => '1 min') r, pawl.trigger('a.flow', key => 'new')$$) \g /dev/null
select lives_ok(format('select t.later(''1 hour'', %s)', :s), 'housekeeping goes past the keys it holds');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'what is committed is claimed');
select lives_ok($$select pawl.trigger('a.flow', key => 'another')$$, 'other keys are free');
select t.other_done() \g /dev/null
select is((select created from pawl.trigger('a.flow', key => 'new')), true, 'and so is one that was rolled back');

select * from finish();
