-- SPDX-License-Identifier: Apache-2.0
select plan(4);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'signal', 'go#1', null, '{}'), 'ok', 'a wait is open, the worker has not let go yet');
select is(pawl.signal(:'r', 'go', '7'), 'taken', 'the signal comes');
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'the worker lets go');
select is((select record #>> '{steps,0,output}' from t.one(:s)), '7', 'the run goes on at once, with the signal');
select * from finish();
