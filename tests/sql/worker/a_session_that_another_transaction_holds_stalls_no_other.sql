-- SPDX-License-Identifier: Apache-2.0
select plan(3);

set statement_timeout = '60s';
select t.session(lease => '1 s') as held \gset
select t.session(lease => '1 day') as s \gset
select t.run() as r \gset
select t.other_holds(format('select pawl.drain_worker(%s)', :held)) \g /dev/null
select lives_ok(format('select t.later(''10 s'', %s)', :s), 'heartbeat and sweep of the others');
select is((select run_id from pawl.claim(:s)), :'r'::uuid, 'and their claims');
select lives_ok($$select pawl.trigger('test.flow')$$, 'and triggers');
select t.other_done() \g /dev/null

select * from finish();
