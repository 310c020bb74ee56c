-- SPDX-License-Identifier: Apache-2.0
select plan(3);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'step', 'a#1', '1', null, 1), t.answer(:s, :'r', :f, 'step', 'c#1', '3', null, 2), t.answer(:s, :'r', :f, 'release') \g /dev/null
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'r', :f, 'step', 'b#1', '2', null, 3), 'ok', 'a step between two that are recorded');
select is(t.answer(:s, :'r', :f, 'complete', null, '1'), 'ok', 'the run ends well');
select is(t.audit(:'r'), '', 'and nothing is unusual');

select * from finish();
