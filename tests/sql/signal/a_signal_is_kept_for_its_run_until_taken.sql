-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select t.run() as r \gset
select is(pawl.signal(:'r', 'go', '{"n": 1}'), 'stored', 'sent before any worker has the run');
select fence as f from t.one(:s) \gset
select t.later('10 days', :s);
select is((select value #>> '{output,n}' from pawl.wait_signal(:s, :'r', :f, 'go')), '1', 'taken when the run asks');
select is((select count(*) from pawl_data.signal), 0::bigint, 'and no longer kept');
select is(t.state(:'r'), 'RUNNING', 'the worker keeps the run');
select * from finish();
