-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select answer from pawl.wait_signal(:s, :'r', :f, 'go', '1 min')), 'ok', 'waits for a minute');
select t.later('1 min', :s);
select fence as f from t.one(:s) \gset
select is((select value #>> '{error,code}' from pawl.wait_signal(:s, :'r', :f, 'go')), 'timeout', 'timed out');
select is(pawl.signal(:'r', 'go', '{}'), 'stored', 'a signal that comes late is kept for the next wait');
select is((select value ->> 'state' from pawl.wait_signal(:s, :'r', :f, 'go#2')), 'SUCCESS', 'which takes it');
select * from finish();
