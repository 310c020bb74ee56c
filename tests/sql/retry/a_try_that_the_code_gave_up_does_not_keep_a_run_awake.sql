-- SPDX-License-Identifier: Apache-2.0
select plan(2);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select t.answer(:s, :'r', :f, 'retry', 'old#1', '{}', null, 1), t.answer(:s, :'r', :f, 'suspend') \g /dev/null
select t.later('2 s') \g /dev/null
select fence as f from t.one(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 hour')), 'ok', 'new code sleeps where the old one tried');
select is(t.state(:'r'), 'PAUSED sleep', 'it sleeps');

select * from finish();
