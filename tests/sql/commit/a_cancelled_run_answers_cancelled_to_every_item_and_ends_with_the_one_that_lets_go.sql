-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled while it is held');
select json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1')) as items \gset
select is(t.answers(:s, :'items'), 'cancelled cancelled', 'each item is told');
select is(t.state(:'r'), 'CANCELLED', 'and the run has ended at once');
select is(t.answers(:s, :'items', true), 'cancelled cancelled', 'the same again after a lost reply');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'no forward record');

select * from finish();
