-- SPDX-License-Identifier: Apache-2.0
select plan(6);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'begin', 'refund#1', null, '{"undo": {"handler": "h"}}', 1) \g /dev/null
select t.answer(:s, :'r', :f, 'begin', 'x/ship#1', null, '{"undo": {"handler": "h"}}', 2) \g /dev/null
select t.answer(:s, :'r', :f, 'fail', null, '{}', '{"final": true}') \g /dev/null
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'signal', 'rollback:x/ship#1'), 'ok', 'an undo that waits for a signal');
select is(pawl.signal(:'r', 'ship', '1'), 'taken', 'of the step''s own name, without branch and number');
select is(t.answer(:s, :'r', :f, 'signal', 'rollback:refund#1'), 'ok', 'one outside a branch');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'lets go of the run');
select is(pawl.signal(:'r', 'refund', '1'), 'taken', 'has the same kind of name');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'complete'), 'ok', 'both steps are undone');

select * from finish();
