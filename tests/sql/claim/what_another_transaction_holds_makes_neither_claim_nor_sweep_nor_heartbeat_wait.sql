-- SPDX-License-Identifier: Apache-2.0
select plan(5);

set statement_timeout = '60s';
select t.session(lease => '1 s') as dead \gset
select t.session(lease => '1 day') as s \gset
select run_id as a, fence as af from t.held(:dead) \gset
select t.run() as b \gset
select t.run() as c \gset
select t.other_holds(format('select run_id::text from pawl_data.task where run_id in (%L, %L) for update', :'a', :'b')) \g /dev/null
select is((select run_id from pawl.claim(:s, 10)), :'c'::uuid, 'claim takes what is free');
select lives_ok(format('select t.later(''10 s'', %s)', :s), 'a sweep of what is locked, and a heartbeat');
select is((select count(*) from pawl.list_workers(true) where session = :dead and ended_at is null), 1::bigint, 'the dead session stays until all it holds is taken back');
select t.other_done() \g /dev/null
select t.later('1 s', :s) \g /dev/null
select is((select count(*) from pawl.claim(:s, 10)), 2::bigint, 'then both are claimed');
select is((select ended_why from pawl.list_workers(true) where session = :dead), 'lost', 'and the session has ended');

select * from finish();
