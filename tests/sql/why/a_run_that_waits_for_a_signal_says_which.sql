-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.session() as s \gset
select to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS') as at \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_signal(:s, :'r', :f, 'go', '1 hour')), 'ok', 'waits');
select is(pawl.why(:'r'), format('Waiting for signal go since %s; times out in 60 min. Send it with pawl.signal().', :'at'), 'exactly');
select * from finish();
