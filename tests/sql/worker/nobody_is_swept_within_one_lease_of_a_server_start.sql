-- SPDX-License-Identifier: Apache-2.0
-- The server has just started when its start is no more than a lease ago by the clock that counts.
select plan(3);

select pawl.test_clock_set(pg_postmaster_start_time() - interval '1 hour') \g /dev/null
select t.session(lease => '10 min') as s \gset
select t.session() as other \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_set(pg_postmaster_start_time() + interval '10 min') \g /dev/null
select pawl.housekeep() \g /dev/null
select is((select execution || ' ' || crashes from pawl_data.task where run_id = :'r'), '1 0', 'one full lease after the start nothing is swept yet');
select is((select count(*) from pawl.held(:s)), 1::bigint, 'the session has it still');
select pawl.test_clock_advance('1 s') \g /dev/null
select pawl.housekeep() \g /dev/null
select throws_ok(format('select * from pawl.held(%s)', :s), 'PW005', null, 'then the session is swept');

select * from finish();
