-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select t.later('29 s', :s);
select is(t.state(:'r'), 'RUNNING', 'within the grace of 30 seconds it is still held');
select t.later('2 s', :s);
select is(t.state(:'r'), 'CANCELLED', 'then it ends without being asked');
select is((select answer from pawl.step(:s, :'r', :f, 'one')), 'cancelled', 'a late step is refused');
select is((select answer from pawl.complete(:s, :'r', :f, '1')), 'cancelled', 'a late complete is told so, not "already"');
select is(t.state(:'r'), 'CANCELLED', 'it never ends SUCCESS');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'nothing was recorded');
select is((select count(*) from pawl_data.wait), 0::bigint, 'the grace is over');
select * from finish();
