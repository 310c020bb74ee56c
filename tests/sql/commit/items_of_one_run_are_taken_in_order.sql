-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'a#1', 'payload', '{}', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'a#1', 'payload', '{}', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '"third"', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '"fourth"', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'))),
    'ok ok ok already ok', 'two tries, a success, a repetition, the end');
select is((select (steps -> 0 ->> 'output') || ' ' || (steps -> 0 ->> 'attempt') from pawl.get_run(:'r')), 'third 3', 'recorded as the third attempt');

select * from finish();
