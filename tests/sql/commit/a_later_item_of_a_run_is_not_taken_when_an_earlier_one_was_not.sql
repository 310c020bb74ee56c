-- SPDX-License-Identifier: Apache-2.0
select plan(8);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'Bad Name', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'good#1', 'payload', '1', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'))),
    'refused busy busy', 'a run must not end without a step that was to be recorded before');
select is(t.state(:'r'), 'RUNNING', 'it has not ended');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 0, 'and nothing is recorded');
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f - 1, 'kind', 'step', 'name', 'good#1', 'payload', '1', 'seq', 2),
    json_build_object('run', :'r', 'fence', :f - 1, 'kind', 'complete', 'payload', '1'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'note', 'payload', repeat('x', 16385)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'note', 'payload', 'short'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'good#1', 'payload', '1', 'seq', 2))),
    'lease_lost lease_lost refused ok ok', 'what follows a lost lease is lost too; a note holds nothing up');
select is((select json_array_length(steps) from pawl.get_run(:'r')), 1, 'what was held up before is recorded when it is sent again');

-- commit_each, and a claim that names task 0 in two ways.
select is((select string_agg(c.answer, ' ' order by c.item)
           from pawl.commit_each(:s, array[:'r', :'r', :'r']::uuid[], array[:f, :f, :f], array['step', 'start', 'complete'],
               array['Bad Name', null, null], array['1', null, '1'], tasks => array[0, null, null]) c),
    'refused busy busy', 'commit_each does the same');
select is(t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'start'),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'complete', 'payload', '1'))), 'already ok', 'sent again, they are taken');
select is(t.state(:'r'), 'SUCCESS', 'it has ended');

select * from finish();
