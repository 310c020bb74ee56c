-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select pawl.create_workflow('kid') as c \gset
select pawl.create_flow('d.flow', max_attempts => 1) as c \gset
select pawl.add_step('d.flow', 'a') as c \gset
select pawl.add_step('d.flow', 'b') as c \gset
select run_id as r from pawl.trigger('d.flow', '[1]') \gset
select count(*) from pawl.claim(:s, 10) \gset
select t.failed(:s, :'r', 'a', '{}') as c \gset
select is((select string_agg(answer, ' ' order by item) from pawl.commit(:s, array[:'r', :'r']::uuid[], '{1,1}', '{step,child}', '{s#1,k#1}', '{1,1}', '{1,2}', '{2000000,2000000}', null, array[null, '{"workflow": "kid"}'])), 'ok cancelled', 'a result is taken, a child is not started');
select is((select answer from pawl.commit(:s, array[:'r']::uuid[], '{1}', '{suspend}', null, null, null, '{2000000}')), 'ok', 'it lets go');
select is(t.state(:'r'), 'ERROR', 'and the run ends');
select is((select count(*) from pawl.list_runs('kid')), 0::bigint, 'without a child');
select * from finish();
