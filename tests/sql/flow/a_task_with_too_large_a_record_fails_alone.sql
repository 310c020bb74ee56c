-- SPDX-License-Identifier: Apache-2.0
select plan(8);
create or replace function pawl._record_max() returns bigint language sql immutable as 'select 1000::bigint';
select t.session('{big.flow/a,big.flow/b,big.flow/c}') as dead \gset
select t.session('{big.flow/held}') as h \gset
select pawl.create_flow('big.flow', max_attempts => 1) as c \gset
select pawl.add_step('big.flow', 'a', '{}', '{"undo": "una"}') as c \gset
select pawl.add_step('big.flow', 'b', '{}', '{"undo": "unb"}') as c \gset
select pawl.add_step('big.flow', 'c', '{}', '{"undo": "unc"}') as c \gset
select pawl.add_step('big.flow', 'held') as c \gset
create function pg_temp.record(session bigint, run uuid, task int, size int) returns text language sql as $$
    select answer from pawl.commit(session, array[run], '{1}', '{step}', '{s#1}', array['"' || repeat('x', size) || '"'], '{1}', array[task])
$$;
create function pg_temp.claimed(session bigint) returns text language plpgsql as $$
begin
    return (select count(*) from pawl.claim(session, 10));
exception
    when integrity_constraint_violation then
        return sqlerrm;
end
$$;
create function pg_temp.states(run uuid) returns text language sql as $$
    select string_agg(p.name || ' ' || p.state::text, ', ' order by p.task_no) from pawl_data.step p where p.run_id = run and p.name !~ '#'
$$;

-- One of two.
select run_id as r from pawl.trigger('big.flow', '{}') \gset
select count(*) from pawl.claim(:dead, 10) \gset
select count(*) from pawl.claim(:h, 10) \gset
select is(pg_temp.record(:dead, :'r', 1000000, 2000) || ' ' || pg_temp.record(:dead, :'r', 2000000, 10), 'ok ok', 'one has recorded much, the others little');
select t.later('31 s', :h) \g /dev/null
select t.session() as s \gset
select is(pg_temp.claimed(:s), '0', 'the run is to end');
select is(pg_temp.states(:'r'), 'a e, b r, c r', 'for the one; nobody knows of the others');
select is(t.done(:h, :'r', 'held', '1'), 'ok', 'what is held may end');
select is((select string_agg((u ->> 'name') || ' ' || (u ->> 'uncertain'), ', ') from pawl.claim(:s, 10), json_array_elements(record -> 'undos') u), 'c#1 true, b#1 true, a#1 true', 'then it is rolled back');
select answer from pawl.kill(array[:'r'::uuid]) \gset

-- Both.
select t.session('{big.flow/a,big.flow/b,big.flow/c}') as dead \gset
select run_id as r from pawl.trigger('big.flow', '{}') \gset
select count(*) from pawl.claim(:dead, 10) \gset
select count(*) from pawl.claim(:h, 10) \gset
select pg_temp.record(:dead, :'r', 1000000, 2000), pg_temp.record(:dead, :'r', 2000000, 2000) \g /dev/null
select t.later('31 s', :h) \g /dev/null
select t.session() as s \gset
select is(pg_temp.claimed(:s), '0', 'of two, the first ends the run');
select matches(pg_temp.states(:'r'), '^(a e, b r|a r, b e), c r$', 'and takes the second with it');
select is(t.state(:'r'), 'RUNNING', 'which goes on until nobody holds a task of it');
select * from finish();
