-- SPDX-License-Identifier: Apache-2.0
select plan(13);
select t.session('{x.flow/a}') as s \gset
select t.session('{x.flow/b}') as b \gset
create table account (balance int);
insert into account values (100);
create function pg_temp.debit(token text) returns text language plpgsql as $$
begin
    update account set balance = balance - 10;
    return pawl.record_step(token, '1');
end
$$;
select pawl.create_flow('x.flow', max_attempts => 1) as c \gset
select pawl.add_step('x.flow', 'a') as c \gset
select pawl.add_step('x.flow', 'b') as c \gset
select run_id as r from pawl.trigger('x.flow', '{}') \gset
select count(*) from pawl.claim(:s, 10) \gset
select count(*) from pawl.claim(:b, 10) \gset
select is(t.failed(:s, :'r', 'a', '{}'), 'ok', 'a sibling fails');
select is((select notice from pawl.heartbeat(:b)), 'cancelled', 'the other is told to begin nothing new');
select is((select notice from pawl.held(:b)), 'cancelled', 'by whatever it asks');
select is((select answer from pawl.commit(:b, array[:'r'::uuid], '{1}', '{step}', '{s#1}', '{1}', '{1}', '{2000000}')), 'ok', 'what it has done is taken');
select is(pg_temp.debit(pawl.step_token(:b, :'r', 1, 'debit', 2, 2000000)), 'ok', 'also in a transaction of its own');
select is((select balance from account), 90, 'with the effect');
select is(pg_temp.debit(pawl.step_token(:b, :'r', 1, 's', 1, 2000000)), 'already', 'one that is recorded is known');
-- A commit of the other was under way when its sibling failed, so that it could not be marked.
update pawl_data.task set ending = null where task_no = 2000000;
select is((select notice from pawl.held(:b)), 'cancelled', 'one that could not be marked is told the same');
select is(t.done(:b, :'r', 'b', '2'), 'ok', 'it ends');
select is((select status from pawl.result(:'r')), 'ERROR', 'and the run with it');
select throws_ok(format('select pg_temp.debit(%L)', pawl.step_token(:b, :'r', 1, 'late', 3, 2000000)), 'PW005', null, 'then nothing more is taken');
-- A cancel is another matter.
select run_id as r from pawl.trigger('x.flow', '{}') \gset
select count(*) from pawl.claim(:b, 10) \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select throws_ok(format('select pg_temp.debit(%L)', pawl.step_token(:b, :'r', 1, 'debit', 1, 2000000)), 'PW006', null, 'no forward record after a cancel');
select * from finish();
