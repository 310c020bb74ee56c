-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select pawl.create_flow('d.flow', max_attempts => 1) as c \gset
select pawl.add_step('d.flow', 'a') as c \gset
select pawl.add_step('d.flow', 'each', '{}', '{"map": "run"}') as c \gset
select run_id as r from pawl.trigger('d.flow', '[1]') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is((select string_agg(answer, ' ') from pawl.commit(:s, array[:'r', :'r']::uuid[], '{1,1}', '{step,step}', '{s#1,s#1}', '{7,8}', '{1,1}', '{1000000,2000001}')), 'ok ok', 'steps inside of tasks');
select t.failed(:s, :'r', 'a', '{}') as a, t.failed(:s, :'r', 'each', '{}', 0) as b \gset
select answer from pawl.retry(array[:'r'::uuid]) \gset
select is((select string_agg(record #>> '{steps,0,output}', ' ' order by task) from pawl.claim(:s, 10)), '7 8', 'are not done again');
select * from finish();
