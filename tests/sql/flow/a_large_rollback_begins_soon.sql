-- SPDX-License-Identifier: Apache-2.0
-- Takes half a second; if each undo is looked for among all others, minutes.
select plan(2);
select t.session() as s \gset
select pawl.create_flow('big.flow', max_attempts => 1) as c \gset
select pawl.add_step('big.flow', 'each', '{}') as c \gset
select run_id as r from pawl.trigger('big.flow', '[1]') \gset
select count(*) from pawl.claim(:s, 10) \gset
-- As if it were a map step whose tasks have each begun a step with an undo.
insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output, undo)
select :'r', 1000000 + i, 1, 's', 's', 1, 1, 1, now(), now(), 'x#1', '1', '{"handler": "u"}' from generate_series(1, 10000) i;
update pawl_data.task set undo = true where run_id = :'r';
set statement_timeout = '120 s';
select is(t.failed(:s, :'r', 'each', '{"message": "no"}'), 'ok', 'the run fails');
select is((select json_array_length(record -> 'undos') from pawl.claim(:s, 10)), 10000, 'and is rolled back');
select * from finish();
