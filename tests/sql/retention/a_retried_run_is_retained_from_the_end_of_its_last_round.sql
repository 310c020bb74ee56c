-- SPDX-License-Identifier: Apache-2.0
select plan(6);
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s, input => '{"in": 1}') \gset
select is((select answer from pawl.fail(:s, :'r', :f, '{}', true)), 'ok', 'fails');
do $$ begin for i in 1..10 loop perform t.later('1 day', (select max(session_id) from pawl_data.worker)); end loop; end $$;
select is((select answer from pawl.retry(array[:'r'::uuid])), 'ok', 'retried after ten days');
select fence as f from t.one(:s) \gset
select is((select answer from pawl.complete(:s, :'r', :f)), 'ok', 'ends');
do $$ begin for i in 1..13 loop perform t.later('1 day'); end loop; end $$;
select is(t.state(:'r'), 'SUCCESS', 'thirteen days later it is there');
select is((select input::text from pawl.get_run(:'r')), '{"in": 1}', 'with its input');
select is((select count(*) from pawl.history(:'r') where what = 'ended'), 2::bigint, 'and both its rounds');
select * from finish();
