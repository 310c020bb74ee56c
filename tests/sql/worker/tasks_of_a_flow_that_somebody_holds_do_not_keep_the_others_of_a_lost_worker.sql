-- SPDX-License-Identifier: Apache-2.0
-- 500 tasks are taken back in a round. Those of a flow that is to end need the whole flow; if somebody has that, they are left, and
-- 500 of them used to be the same ones in every round.
select plan(3);

set statement_timeout = '60s';
select t.flow('wide', '[]') \g /dev/null
select pawl.add_step('wide', 'each', '{}', '{"map": "run"}') \g /dev/null
select t.session(lease => '1 day') as keep \gset
select t.session() as w \gset
select run_id as flow from pawl.trigger('wide', (select json_agg(n) from generate_series(1, 500) n)) \gset
select pawl.claim(:w, 500) \g /dev/null
select pawl.test_clock_advance('1 s') \g /dev/null
select t.run() as r \gset
select pawl.claim(:w, 1) \g /dev/null
select is((select count(*) from pawl_data.task t where t.session_id = :w and t.place = 'h'), 501::bigint, 'a worker holds them all, and another run');
update pawl_data.setting set crash_max = 1;
-- The run of the flow is locked.
select t.other_holds(format('select t.run_id::text from pawl_data.task t where t.run_id = %L and t.task_no = 0 for update', :'flow')) \g /dev/null
-- Any one task may be passed over by chance, but hardly ten times.
do $$ begin for i in 1..10 loop perform t.later('31 s', (select min(session_id) from pawl_data.worker)); end loop; end $$;
select isnt(t.state(:'r'), 'RUNNING', 'lost with its worker, the other run is taken back');
select is((select count(*) from pawl_data.task t where t.session_id = :w and t.place = 'h'), 500::bigint, 'those of the flow are not, before it can be locked');
select t.other_done() \g /dev/null

select * from finish();
