-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough')), 'ok', 'acknowledged');
select is(t.state(:'r'), 'RUNNING', 'still held');
select is((select ending from pawl.get_run(:'r')), true, 'but shown as ending');
select is((select notice from pawl.heartbeat(:s) where run_id = :'r'), 'cancelled', 'the heartbeat tells');
select is((select notice from pawl.held(:s)), 'cancelled', 'so does the list of what is held');
select is((select answer || ': ' || reason from pawl.step(:s, :'r', :f, 'one')), 'cancelled: enough', 'a step is refused');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'and not recorded');
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 s')), 'cancelled', 'a wait is refused');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'already', 'twice: already');
select is((select answer from pawl.complete(:s, :'r', :f, '1')), 'cancelled', 'complete lets go');
select is(t.state(:'r'), 'CANCELLED', 'and the run ends CANCELLED, not SUCCESS');
select is((select answer from pawl.complete(:s, :'r', :f, '1')), 'cancelled', 'the same call repeated has the same answer');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no time limit is left');
select * from finish();
