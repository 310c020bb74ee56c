-- SPDX-License-Identifier: Apache-2.0
-- The failed try of the handler lies in the past and must not make the run due at once, again and again.
select plan(4);

select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'fail', null, '{"message": "no"}'), 'ok', 'a try fails');
select t.later('2 s') \g /dev/null
select fence as f from t.one(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '1 hour')), 'ok', 'the next one sleeps');
select is(t.state(:'r'), 'PAUSED sleep', 'it is paused');
select is((select due_at - pawl.now() from pawl.get_run(:'r')), interval '1 hour', 'for the whole hour');

select * from finish();
