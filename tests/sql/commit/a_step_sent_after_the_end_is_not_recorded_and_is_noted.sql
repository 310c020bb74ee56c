-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'late#1', 'payload', '1', 'seq', 1)), true),
    'ok lease_lost', 'after the terminal state nothing is recorded');
select is(t.answer(:s, :'r', :f, 'step', 'later#1', '1', null, 1), 'lease_lost', 'nor in a later call');
select is((select count(*) from pawl_data.step where run_id = :'r'), 0::bigint, 'no record');
select is(t.audit(:'r'), 'late_result late_result', 'a late result is an audit row');

select * from finish();
