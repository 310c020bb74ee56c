-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create table account (balance int);
insert into account values (100);
select pawl.step_token(:s, :'r', :f, 'debit#1') as token \gset
begin;
update account set balance = balance - 10;
select is(pawl.record_step(:'token', '{}'), 'ok', 'recorded');
rollback;
select is((select balance from account), 100, 'no effect');
select is((select count(*) from pawl_data.step), 0::bigint, 'no record');
select is((select answer from pawl.step(:s, :'r', :f, 'debit', '1')), 'ok', 'the step can be done again');
select * from finish();
