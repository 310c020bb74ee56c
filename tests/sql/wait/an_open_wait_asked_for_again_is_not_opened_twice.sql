-- SPDX-License-Identifier: Apache-2.0
select plan(5);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_event(:s, :'r', :f, 'ev', 'x', timeout => '1 hour')), 'ok', 'waits');
select t.later('10 min', :s);
select is(pawl.signal(:'r', 'other', '{}'), 'stored', 'something else happens');
select is((select answer from pawl.wait_event(:s, :'r', :f, 'ev', 'x', timeout => '1 hour')), 'already', 'the same claim asks again');
select is((select count(*) from pawl.list_waits(:'r')), 1::bigint, 'one wait');
select is((select until from pawl.list_waits(:'r')), pawl.now() + interval '50 min', 'whose time goes on');
select * from finish();
