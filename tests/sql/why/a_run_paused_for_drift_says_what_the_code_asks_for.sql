-- SPDX-License-Identifier: Apache-2.0
select plan(3);
set timezone to 'UTC';
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'pay')), 'ok', 'a step');
select is((select answer from pawl.sleep(:s, :'r', :f, 'pay', '1 s')), 'refused', 'the code asks for a sleep');
select is(pawl.why(:'r'), format('Paused by pawl at %s (0 s ago): drift: step pay#1 is recorded as step, the code asks for sleep. Resume it with pawl.resume().', to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS')), 'exactly');
select * from finish();
