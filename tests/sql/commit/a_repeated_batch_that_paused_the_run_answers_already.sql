-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'note', 'name', 'n', 'payload', 'hello'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'retry', 'name', 'b#1', 'payload', '{}', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'nap#1', 'option', json_build_object('ms', 5000), 'seq', 3),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend')) as items \gset
select is(t.answers(:s, :'items'), 'ok ok ok ok ok', 'the first time');
select is(t.state(:'r'), 'PAUSED retry', 'the run waits');
select is(t.answers(:s, :'items', each => true), 'already already already already already', 'the reply was lost, the same again');
select is(t.answers(:s, :'items'), 'already already already already already', 'through commit as well');
select is(t.audit(:'r'), 'attempt_failed', 'nothing is taken for a late result');
select is((select count(*) from pawl.notes(:'r')), 1::bigint, 'the note is kept once');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 3, 'and so is everything else');

select * from finish();
