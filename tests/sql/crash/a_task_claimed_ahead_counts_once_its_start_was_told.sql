-- SPDX-License-Identifier: Apache-2.0
select plan(5);

select t.session() as s1 \gset
select t.session(lease => '1 day') as s2 \gset
select t.run() as r \gset
select fence as f, execution as a from t.one(:s1, start => false) \gset
select is(:a, 0, 'claimed ahead is no attempt');
select is(t.state(:'r'), 'RUNNING', 'but it is shown as running');
select is(t.answer(:s1, :'r', :f, 'start'), 'ok', 'it starts');
select is(t.answer(:s1, :'r', :f, 'start'), 'already', 'once');
select t.later('31 s') \g /dev/null
select is((select crashes || ' ' || execution from pawl_data.task), '1 1', 'and is lost');

select * from finish();
