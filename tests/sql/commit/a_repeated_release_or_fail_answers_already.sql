-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{"message": "no"}')) as items \gset
select is(t.answers(:s, :'items'), 'ok ok', 'a failed try');
select is(t.answers(:s, :'items', true), 'already already', 'sent again');
select is((select count(*) from pawl_data.audit where run_id = :'r'), 1::bigint, 'it counts once');
select t.later('2 s', :s) \g /dev/null
select fence as f2 from t.one(:s) \gset
select is(t.answer(:s, :'r', :f2, 'release'), 'ok', 'given back');
select is(t.answer(:s, :'r', :f2, 'release'), 'already', 'sent again');
select is(t.answers(:s, :'items', true), 'lease_lost lease_lost', 'what an older claim did is not asked about any more');

select * from finish();
