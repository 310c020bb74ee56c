-- SPDX-License-Identifier: Apache-2.0
-- A plain run that nobody claims has no row in the tables of its day. They are taken away; the run is kept apart, and goes on.
select plan(6);
select t.stop_clock();
select t.session(lease => '1 day') as s \gset
select t.run() as r \gset
select to_char(pawl._id_time(:'r') at time zone 'UTC', 'YYYYMMDD') as day \gset
select pawl.test_clock_advance('20 days') \g /dev/null
update pawl_data.chore set due_at = 'infinity' where chore <> 'tables';
update pawl_data.chore set due_at = '-infinity' where chore = 'tables';
call pawl.tick(true);
select isnt(to_regclass('pawl_data.run_' || :'day'), null, 'the tables stay until the runs of their day were looked at');
update pawl_data.chore set due_at = '-infinity' where chore in ('retention', 'partitions');
do $$ begin for i in 1..40 loop update pawl_data.chore set due_at = '-infinity' where chore in ('retention', 'tables'); call pawl.tick(true); end loop; end $$;
select is(to_regclass('pawl_data.run_' || :'day'), null, 'then they go');
select is((select kept from pawl_data.task where run_id = :'r'), true, 'and the run is kept apart');
select t.session(lease => '1 day') as s \gset
select run_id as c, fence as f from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'ok', 'a step of it is recorded');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'it ends');
select is(t.state(:'r'), 'SUCCESS', 'well');
select * from finish();
