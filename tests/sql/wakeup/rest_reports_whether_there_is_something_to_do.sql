-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select pawl.create_workflow(n) from unnest(array['a.one', 'a.two', 'a.three', 'a.four', 'a.five', 'b.one']) n \g /dev/null
select t.session('{a.*}') as many \gset
select t.session('{b.*}') as one \gset
select is((select string_agg(ready::text, ' ' order by s) from unnest(array[:many, :one]) s, pawl.rest(s)), 'false false', 'nothing');
select pawl.trigger('a.three') \g /dev/null
select is((select string_agg(ready::text, ' ' order by s) from unnest(array[:many, :one]) s, pawl.rest(s)), 'true false', 'one of many queues has something');
select pawl.pause_queue('a.three') \g /dev/null
select is((select ready from pawl.rest(:many)), false, 'it is paused');
select pawl.resume_queue('a.three') \g /dev/null
select is((select count(*) from pawl.claim(:many)), 1::bigint, 'it is claimed');
select is((select ready from pawl.rest(:many)), false, 'and is not there any more');
select pawl.create_workflow('b.two') \g /dev/null
select is((select ready from pawl.rest(:one)), true, 'a queue that a claim will see first');
select count(*) from pawl.claim(:one) \g /dev/null
select is((select ready from pawl.rest(:one)), false, 'which it has');
select pawl.trigger('b.one', tenant => 'x') \g /dev/null
update pawl_data.worker set tenant = 'y' where session_id = :one;
update pawl_data.setting set tenants_bound = true;
select is((select ready from pawl.rest(:one)), false, 'what others have is nothing to a bound worker');
select pawl.trigger('b.one', tenant => 'y') \g /dev/null
select is((select ready from pawl.rest(:one)), true, 'what its tenant has is');
select lease_until as before from pawl_data.worker where session_id = :one \gset
select pawl.test_clock_advance('10 s') \g /dev/null
select pawl.rest(:one) \g /dev/null
select is((select lease_until from pawl_data.worker where session_id = :one), :'before', 'a rest leaves the lease as it is');
select pawl.create_workflow('b.three') \g /dev/null
update pawl_data.worker set queue_version = (select last_value from pawl_data.queue_version);
select pawl.rest(:one, true) \g /dev/null
select is((select lease_until - :'before' from pawl_data.worker where session_id = :one), interval '10 s', 'unless it is to renew it');
select is((select count(*) from pawl_data.worker_queue where session_id = :one), 3::bigint, 'with the list of queues');
select pawl.heartbeat(:many) \g /dev/null
select pawl.housekeep(), pawl.housekeep() \g /dev/null
select setval('pawl_data.housekeeping_clock', 0) \g /dev/null
select is((select tick_due from pawl.rest(:many)), false, 'housekeeping is due, and has nothing to do');
select is((select tick_due from pawl.heartbeat(:many)), false, 'so it is done');
update pawl_data.chore set due_at = '-infinity' where chore = 'rollup';
select setval('pawl_data.housekeeping_clock', 0) \g /dev/null
select is((select tick_due from pawl.rest(:many)), true, 'it has');
select pawl.test_clock_advance('60 s') \g /dev/null
update pawl_data.worker set ended_at = pawl.now() where session_id = :one;
select throws_ok(format('select pawl.rest(%s, true)', :one), 'PW005', null, 'an ended session rests no more');
select * from finish();
