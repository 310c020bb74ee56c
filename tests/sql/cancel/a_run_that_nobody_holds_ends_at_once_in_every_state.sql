-- SPDX-License-Identifier: Apache-2.0
select plan(18);
select t.session() as s \gset
select t.run() as queued \gset
select is((select answer from pawl.cancel(array[:'queued'::uuid], 'enough')), 'ok', 'queued');
select is(t.state(:'queued'), 'CANCELLED', 'ended');
select is((select error ->> 'message' from pawl.get_run(:'queued')), 'enough', 'with the reason');
select run_id as delayed from pawl.trigger('test.flow', delay => '1 day') \gset
select is((select answer from pawl.cancel(array[:'delayed'::uuid])), 'ok', 'delayed');
select is(t.state(:'delayed'), 'CANCELLED', 'ended');
select run_id as sleeping, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'sleeping', :f, 'nap', '1 day')), 'ok', 'asleep');
select is((select answer from pawl.cancel(array[:'sleeping'::uuid])), 'ok', 'sleeping');
select is(t.state(:'sleeping'), 'CANCELLED', 'ended');
select run_id as retrying, fence as f from t.held(:s) \gset
select is((select answer from pawl.fail(:s, :'retrying', :f, '{}')), 'ok', 'failed');
select is((select answer from pawl.cancel(array[:'retrying'::uuid])), 'ok', 'waiting for its retry');
select is(t.state(:'retrying'), 'CANCELLED', 'ended');
select t.run() as paused \gset
select is((select answer from pawl.pause(array[:'paused'::uuid])), 'ok', 'paused');
select is((select answer from pawl.cancel(array[:'paused'::uuid])), 'ok', 'paused by an operator');
select is(t.state(:'paused'), 'CANCELLED', 'ended');
select is((select count(*) from pawl_data.task), 0::bigint, 'nothing is left in the hot set');
select is((select count(*) from pawl_data.wait), 0::bigint, 'nor among the waits');
select is((select string_agg(answer, ' ') from pawl.cancel(array[:'queued', :'sleeping']::uuid[])), 'already already', 'twice: already');
select is((select what || ' ' || who || ' ' || (detail ->> 'why') from pawl.history(:'queued') where what = 'cancel'), 'cancel ' || session_user || ' enough', 'the history says who and why');
select * from finish();
