-- SPDX-License-Identifier: Apache-2.0
select plan(7);

select t.session(lease => '1 day') as s \gset
select t.run() as r \gset
create function pg_temp.crash() returns void language plpgsql as $$
begin
    perform pawl.claim(t.session(lease => '1 s'));
    perform t.later('2 s');
end $$;
select pg_temp.crash() \g /dev/null
select is((select suspect || ' ' || execution from t.one(:s)), 'false 2', 'with one crash it is taken like any other');
select pawl.release(:s, :'r', (select fence from pawl_data.task)) \g /dev/null
select pg_temp.crash() \g /dev/null
select is(t.state(:'r'), 'QUEUED', 'with two it can be claimed');
select is_empty(format('select * from pawl.claim(%s, 10)', :s), 'but not by everybody');
select t.run('other.flow') as o \gset
select is((select run_id from pawl.claim(:s, 10, quiet => true)), :'o'::uuid, 'work that is no suspect goes first');
select is_empty(format('select * from pawl.claim(%s, 10, quiet => true)', :s), 'a worker that holds something is not quiet, whatever it says');
select is((select answer from pawl.release(:s, :'o', 1)), 'ok', 'it lets go');
select pawl.pause_workflow('other.flow') \g /dev/null
select is((select suspect || ' ' || run_id from pawl.claim(:s, 10, quiet => true)), 'true ' || :'r', 'a quiet worker gets it');

select * from finish();
