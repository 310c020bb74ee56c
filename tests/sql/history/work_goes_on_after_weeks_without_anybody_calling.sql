-- SPDX-License-Identifier: Apache-2.0
select plan(4);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select pawl.test_clock_advance('60 days') \g /dev/null
select lives_ok($$select pawl.trigger('test.flow', to_json(repeat('x', 3000)))$$, 'a trigger with a large input');
select t.session() as s \gset
select fence as f, run_id as r from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'ok', 'a step');
select is(t.answer(:s, :'r', :f, 'retry', 'b#1', '{}', null, 2), 'ok', 'a failed try');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'the end');

select * from finish();
