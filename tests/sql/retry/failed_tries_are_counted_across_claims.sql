-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select pawl.create_workflow('two.flow', max_attempts => 2) \g /dev/null
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s, 'two.flow') \gset
select t.answer(:s, :'r', :f, 'retry', 'a#1', '{}', null, 1), t.answer(:s, :'r', :f, 'release') \g /dev/null
select fence as f, record -> 'retries' -> 'a#1' ->> 'n' as n from t.one(:s) \gset
select is(:'n'::text, '1', 'the next claim knows');
select is((select value ->> 'final' from t.item(:s, :'r', :f, 'retry', 'a#1', '{}', null, 1)), 'true', 'and the second failure is final');

select * from finish();
