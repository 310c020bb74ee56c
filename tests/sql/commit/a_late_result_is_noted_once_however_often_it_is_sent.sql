-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session() as s \gset
select t.session() as other \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.later('31 s', :other) \g /dev/null
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'lease_lost', 'a late result');
select is(t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), 'lease_lost', 'sent again is answered alike');
select is(t.audit(:'r'), 'lease_lost late_result', 'and noted once');
select t.answer(:s, :'r', :f, 'step', 'b#1', '1', null, 2) \g /dev/null
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select t.answer(:s, :'r', :f, 'complete', null, '1') \g /dev/null
select is(t.audit(:'r'), 'lease_lost late_result late_result late_result', 'another step and an end are others');
select fence as f2 from t.one(:other) \gset
select t.answer(:other, :'r', :f2, 'complete', null, '1') \g /dev/null
select t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1) \g /dev/null
select is(t.audit(:'r'), 'lease_lost late_result late_result late_result', 'known also when the run has ended');

-- Claims of two tasks of a flow have the same session and fence.
select t.flow('test.pair', '[["one"], ["two"]]') \g /dev/null
select t.session() as s \gset
select run_id as c from pawl.trigger('test.pair') \gset
select count(*) as n from pawl.claim(:s, 10) \gset
select t.later('31 s', :other) \g /dev/null
select t.done(:s, :'c', 'one', '1', null, 1), t.done(:s, :'c', 'two', '1', null, 1), t.done(:s, :'c', 'two', '1', null, 1) \g /dev/null
select is(:n, 2, 'two tasks of a flow');
select is(t.audit(:'c'), 'lease_lost lease_lost late_result late_result', 'have a late result each');

select * from finish();
