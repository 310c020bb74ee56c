-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select pawl.create_flow('c.flow', max_attempts => 1) as c \gset
select pawl.add_step('c.flow', 'a') as c \gset
select pawl.add_step('c.flow', 'b') as c \gset
select run_id as r from pawl.trigger('c.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'r', 'a', '{"message": "broken"}'), 'ok', 'one of two tasks fails');
select is(t.state(:'r'), 'RUNNING', 'the other is still held');
select is((select answer from pawl.cancel(array[:'r'::uuid], 'enough')), 'ERROR', 'it is too late for a cancel');
select is(t.done(:s, :'r', 'b', '1'), 'ok', 'what the other came to is recorded, so nothing was acknowledged that forbids it');
select is(t.state(:'r'), 'ERROR', 'it ends as it was to');
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ERROR', 'and later the answer is the same');
select is((select count(*) from pawl_data.audit where run_id = :'r' and what = 'cancel'), 0::bigint, 'nobody has cancelled it');

select run_id as r, fence as f from t.held(:s) \gset
select t.answers(:s, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'begin', 'name', 'a#1', 'seq', 1, 'option', json_build_object('undo', json_build_object('handler', 'u'))),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1', 'seq', 1),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{"message": "broken"}', 'option', json_build_object('permanent', true)))) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ERROR', 'nor is a run that is rolled back because it failed');
select * from finish();
