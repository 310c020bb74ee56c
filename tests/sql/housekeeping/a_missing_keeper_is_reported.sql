-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select pawl.create_workflow('test.flow'), pawl.create_workflow('other') \g /dev/null

select t.stop_clock();
select t.session('{*}', '1 day') as s \gset
select run_id as r from pawl.trigger('test.flow', delay => '10 s') \gset
select t.session('{other}', '30 s') as lost \gset
select run_id as l from pawl.trigger('other') \gset
select count(*) from pawl.claim(:lost, 1) \g /dev/null
call pawl.tick(true);
call pawl.tick(true);
select is((select count(*) from pawl.doctor() where what = 'keeper'), 0::bigint, 'somebody ticks');
select pawl.test_clock_set(pawl.now() + interval '55 s') \g /dev/null
select setval('pawl_data.housekeeping_clock', pawl._micros(pawl.now())) \g /dev/null
select is((select count(*) from pawl.doctor() where what = 'keeper'), 0::bigint, 'a minute has not passed');
select is((select notice from pawl.list_workers() where session = :s), null, 'list_workers has no notice');
select is(pawl.why(:'l'), 'Queued: worker worker lost it when its lease expired 25 s ago. A live worker reclaims it within seconds.', 'a lost run will be taken back');

select pawl.test_clock_set(pawl.now() + interval '20 s') \g /dev/null
\set cure 'A keeper is missing: no role that is free of tenants has called pawl.tick() for a minute. Start pawl keeper, or a worker of such a role'
select is((select level || ': ' || cure from pawl.doctor() where what = 'keeper'), 'error: ' || :'cure' || '.', 'nobody has for a minute');
select is((select notice from pawl.list_workers() where session = :s), :'cure', 'list_workers says so');
select is(pawl.why(:'r'), 'Due for 65 s, but only housekeeping makes it ready. ' || :'cure' || '.', 'why of a run whose time has come');
select is(pawl.why(:'l'), 'Queued: worker worker lost it when its lease expired 45 s ago. ' || :'cure' || '.', 'and of a lost one');

call pawl.tick();
call pawl.tick(true);
select is((select count(*) from pawl.doctor() where what = 'keeper'), 0::bigint, 'a tick ends it');
select is((select notice from pawl.list_workers() where session = :s), null, 'in every place');
select isnt(pawl.why(:'r'), null, 'and the run is ready');
select * from finish();
