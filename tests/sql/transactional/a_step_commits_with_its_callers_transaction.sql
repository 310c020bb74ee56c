-- SPDX-License-Identifier: Apache-2.0
select plan(8);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
create table account (balance int);
insert into account values (100);
select pawl.step_token(:s, :'r', :f, 'debit#1', 1) as token \gset
begin;
update account set balance = balance - 10;
select is(pawl.record_step(:'token', '{"debited": 10}'), 'ok', 'recorded');
commit;
select is((select balance from account), 90, 'the effect is there');
select is((select string_agg(e ->> 'name' || ' ' || (e ->> 'state') || ' ' || (e #>> '{output,debited}'), ', ') from pawl.get_run(:'r') g, json_array_elements(g.steps) e), 'debit#1 SUCCESS 10', 'and so is the record');
select is(pawl.record_step(:'token', '{"debited": 99}'), 'already', 'a second time: already');
select is((select output ->> 'debited' from pawl_data.step where run_id = :'r'), '10', 'and the value does not change');
select is((select answer || ' ' || (value #>> '{output,debited}') from t.item(:s, :'r', :f, 'confirm', 'debit#1')), 'already 10', 'the worker asks whether the step was taken, and gets its value');
select is((select answer || ': ' || reason from t.item(:s, :'r', :f, 'confirm', 'other#1')), 'refused: the step was not recorded', 'one that was not is refused');
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'the run ends');
select * from finish();
