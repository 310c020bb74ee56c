-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select pawl.create_workflow('three.flow', max_attempts => 3, jitter => 0) \g /dev/null
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, 'three.flow') \gset
select is((select string_agg(value ->> 'final', ' ' order by n) from generate_series(1, 3) n, t.item(:s, :'r', :f, 'retry', 'a#1', '{"code": "x"}', null, 0 * n)),
    'false false true', 'the third failure is final');
select is((select (steps -> 0 ->> 'state') || (steps -> 0 ->> 'attempt') from pawl.get_run(:'r')), 'ERROR3', 'recorded as the third attempt');
select is(t.answer(:s, :'r', :f, 'retry', 'a#1', '{}', null, 1), 'already', 'no fourth');

select * from finish();
