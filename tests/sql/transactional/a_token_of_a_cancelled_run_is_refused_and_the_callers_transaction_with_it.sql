-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create table account (balance int);
insert into account values (100);
select pawl.step_token(:s, :'r', :f, 'debit#1') as token \gset
select is((select answer from pawl.cancel(array[:'r'::uuid])), 'ok', 'cancelled');
select throws_ok(format('do $x$ begin update account set balance = 90; perform pawl.record_step(%L); end $x$', :'token'), 'PW006', null, 'refused');
select is((select balance from account), 100, 'and the effect is undone');
select is((select answer from pawl.kill(array[:'r'::uuid])), 'ok', 'killed');
select throws_ok(format('select pawl.record_step(%L)', :'token'), 'PW005', null, 'a run that has ended');
select is((select count(*) from pawl_data.step), 0::bigint, 'no record');
select * from finish();
