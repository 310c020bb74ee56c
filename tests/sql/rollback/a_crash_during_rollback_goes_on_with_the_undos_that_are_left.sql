-- SPDX-License-Identifier: Apache-2.0
select plan(10);
select t.session(lease => '5 s') as s \gset
select t.session(lease => '1 hour') as s2 \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'a#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'ua'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'b#1', 'seq', 2, 'option', json_build_object('undo', json_build_object('handler', 'ub'))))), 'ok ok', 'two steps');
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'the run fails');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'rollback:b')), 'ok', 'one undo is done');
select t.later('1 min', :s2);
select is(t.state(:'r'), 'QUEUED', 'its worker is lost');
select is((select answer from pawl.step(:s, :'r', :f, 'rollback:a')), 'lease_lost', 'and can record nothing more');
select fence as f, record, rolling_back from t.one(:s2) \gset
select is((select string_agg(u ->> 'name', ' ') from json_array_elements(:'record'::json -> 'undos') u), 'a#1', 'another goes on');
select is(:'rolling_back'::boolean, true, 'rolling back');
select is((select answer from pawl.step(:s2, :'r', :f, 'rollback:a')), 'ok', 'undone');
select is((select answer from pawl.complete(:s2, :'r', :f)), 'ok', 'ended');
select is(t.state(:'r'), 'ERROR', 'ERROR');
select * from finish();
