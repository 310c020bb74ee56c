-- SPDX-License-Identifier: Apache-2.0
select plan(1);
select t.session() as s \gset
select t.run() as r \gset
select count(*) as n from pawl.claim(:s), pawl.release(:s, run_id, fence) \gset
update pawl_data.task set crashes = 2, place = 's' where run_id = :'r';
select is(pawl.why(:'r'), 'Queued, but suspect: 2 workers lost their lease while running it. It waits for a worker with no other run.', 'exactly');
select * from finish();
