-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.session() as s \gset
select t.run() as r \gset
select is(pawl.pause_queue('test.flow', 'look'), 'ok', 'paused');
select is(pawl.pause_queue('test.flow'), 'already', 'twice: already');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'nothing is claimed');
select is((select count(*) from pawl.claim(:s, 10, quiet => true)), 0::bigint, 'not even by a quiet worker');
select is(pawl.pause_workflow('test.flow'), 'ok', 'the workflow is paused besides');
select is(pawl.resume_queue('test.flow'), 'ok', 'the queue is resumed');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'the pause of the workflow holds');
select is(pawl.resume_workflow('test.flow'), 'ok', 'now that too');
select is((select count(*) from pawl.claim(:s, 10)), 1::bigint, 'and the run is claimed');
select throws_ok($$select pawl.pause_queue('no.such')$$, 'PW001', null, 'an unknown queue');
select * from finish();
