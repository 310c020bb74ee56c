-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '3 days')), 'ok', 'the sleep is taken');
select is(t.state(:'r'), 'PAUSED sleep', 'the run is paused');
select is((select count(*) from pawl.held(:s)), 0::bigint, 'the worker holds nothing');
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '3 days')), 'already', 'the call repeated after a lost reply is a success');
select t.later('2 days 23 hours 59 min', :s);
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'a minute before its time nobody can claim it');
select t.later('1 min', :s);
select is(t.state(:'r'), 'QUEUED', 'when the time is over it is queued');
select fence as f, record from t.one(:s) \gset
select is(:'record'::json #>> '{steps,0,name}', 'nap#1', 'the claim hands out the record of the sleep');
select is(:'record'::json #>> '{steps,0,state}', 'SUCCESS', 'which ended well');
select is((select value ->> 'state' from pawl.sleep(:s, :'r', :f, 'nap', '3 days')), 'SUCCESS', 'asked again it does not sleep again');
select is(t.state(:'r'), 'RUNNING', 'and the worker keeps the run');
select is((select count(*) from pawl_data.wait), 0::bigint, 'no wait is left');
select * from finish();
