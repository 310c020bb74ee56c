-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select pawl.sleep(:s, :'r', :f, 'a', '1 s') \g /dev/null
select t.later('2 s', :s) \g /dev/null
select fence as f from t.one(:s) \gset
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1)), true), 'refused', 'asked for as a step');
select is(t.state(:'r'), 'PAUSED drift', 'the run is paused');

select * from finish();
