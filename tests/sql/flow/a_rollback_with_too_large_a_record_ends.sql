-- SPDX-License-Identifier: Apache-2.0
-- Its undos come with the outputs of all tasks.
select plan(7);
create or replace function pawl._record_max() returns bigint language sql immutable as 'select 1000::bigint';
select t.session() as s \gset
select pawl.create_flow('big.flow', max_attempts => 1) as c \gset
select pawl.add_step('big.flow', 'a', '{}', '{"undo": "una"}') as c \gset
select pawl.add_step('big.flow', 'b', '{}', '{"undo": "unb"}') as c \gset
select pawl.add_step('big.flow', 'c', '{a,b}') as c \gset
select run_id as r from pawl.trigger('big.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select is(t.done(:s, :'r', 'a', '"' || repeat('x', 500) || '"') || ' ' || t.done(:s, :'r', 'b', '"' || repeat('x', 500) || '"'), 'ok ok', 'two outputs');
select count(*) from pawl.claim(:s, 10) \gset
select is(t.failed(:s, :'r', 'c', '{"message": "no"}'), 'ok', 'the run fails');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'the rollback cannot be handed out');
select is((select concat_ws(' ', status, error ->> 'code', error -> 'error' ->> 'code', error -> 'not_undone') from pawl.result(:'r')),
    'ERROR rollback_failed record_too_large ["b#1", "a#1"]', 'and ends, with what is left to undo');
select is(pawl.why(:'r'), 'Ended ERROR 0 s ago: its undos are larger than one claim can return. Not undone: ["b#1", "a#1"]. Fix the cause and call pawl.rollback_retry(), or skip it with pawl.rollback_skip().', 'why');
select is(pawl.rollback_skip(:'r', 'b#1'), 'ok', 'an operator skips one');
select is((select record -> 'undos' -> 0 ->> 'name' from pawl.claim(:s, 10)), 'a#1', 'and the other is handed out');
select * from finish();
