-- SPDX-License-Identifier: Apache-2.0
-- Two weeks in the queue must not count as two weeks in history.
select plan(3);

select t.run() as r \gset
select t.later('1 day') from generate_series(1, 13) \g /dev/null
select t.session(lease => '1 day') as s \gset
select fence as f from t.one(:s) \gset
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'))), 'ok ok', 'it ends on the thirteenth day');
select t.later('6 hours') from generate_series(1, 40) \g /dev/null
select is(t.state(:'r'), 'SUCCESS', 'ten days later it is there');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 1, 'with its step');

select * from finish();
