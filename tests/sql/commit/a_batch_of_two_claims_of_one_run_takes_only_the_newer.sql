-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'release') \g /dev/null
select fence as f2 from t.one(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f2, 'kind', 'step', 'name', 'new#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'old#1', 'payload', '1', 'seq', 1)), true), 'ok lease_lost', 'the newer first');
select is((select string_agg(name, ' ') from pawl_data.step where run_id = :'r'), 'new#1', 'one record');

select * from finish();
