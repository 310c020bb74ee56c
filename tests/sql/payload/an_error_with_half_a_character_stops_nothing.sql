-- SPDX-License-Identifier: Apache-2.0
select plan(9);
-- As programs make it that cut a text in the middle of an emoji.
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'retry', 'a#1', '{"message": "cut \ud83d"}'), 'ok', 'a try fails');
select is(t.answers(:s, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'step', 'name', 'a#1', 'payload', '1')), true), 'ok', 'the next one does not');
select is(t.answer(:s, :'r', :f, 'begin', 'b#1', null, '{"undo": {"handler": "h"}}'), 'ok', 'a step with an undo');
select is(t.answer(:s, :'r', :f, 'fail', null, '{"message": "\ude00 and \\ud83d\ude00 and \ud83d\ude00"}', '{"final": true}'), 'ok', 'the run fails');
select fence as f, rolling_back as b from t.one(:s) \gset
select ok(:'b', 'and is rolled back');
select is(t.answer(:s, :'r', :f, 'step', 'rollback:b#1', '1'), 'ok', 'its undo is recorded');
select is(t.answer(:s, :'r', :f, 'complete'), 'ok', 'so that it ends');
select is((select error ->> 'message' from pawl.result(:'r')), e'\ufffd and \\ud83d\ufffd and \U0001f600', 'with what can be read');

select pawl.create_flow('c.flow') as c \gset
select pawl.add_step('c.flow', 'a') as c \gset
select pawl.add_step('c.flow', 'b', '{a}', '{"condition": {"/a": "x"}}') as c \gset
select run_id as r from pawl.trigger('c.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.done(:s, :'r', 'a', '"\ud83d"'), 'ok', 'a condition looks at such an output, too');
select * from finish();
