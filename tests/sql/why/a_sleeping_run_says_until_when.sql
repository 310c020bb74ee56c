-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.sleep(:s, :'r', :f, 'settle', '3 days')), 'ok', 'sleeps');
select is(pawl.why(:'r'), format('Sleeping in settle#1 until %s (3 days left).', to_char(pawl.now() + interval '3 days', 'YYYY-MM-DD HH24:MI:SS')), 'exactly');
select * from finish();
