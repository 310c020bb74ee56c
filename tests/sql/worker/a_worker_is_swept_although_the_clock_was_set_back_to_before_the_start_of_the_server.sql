-- SPDX-License-Identifier: Apache-2.0
-- The server has just been started, so ten minutes ago it was not there yet.
select plan(4);
select pawl.test_clock_set(pg_postmaster_start_time() + interval '1 min');
select t.session(lease => '30 s') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.test_clock_advance('-10 min');
select t.session(lease => '1 hour') as s2 \gset
select t.later('1 s', :s2);
select is((select count(*) from pawl.claim(:s2, 1)), 0::bigint, 'its lease lasts as long as it may from then on');
select t.later('31 s', :s2);
select t.later('1 s', :s2);
select is((select ended_why from pawl_data.worker where session_id = :s), 'lost', 'then it is swept');
select is((select run_id from pawl.claim(:s2, 1)), :'r'::uuid, 'and its run is given to another');
select is((select answer from pawl.complete(:s, :'r', :f, '1')), 'lease_lost', 'the late worker is told');
select * from finish();
