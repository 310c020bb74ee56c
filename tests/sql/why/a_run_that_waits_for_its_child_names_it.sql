-- SPDX-License-Identifier: Apache-2.0
select plan(2);
set timezone to 'UTC';
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c, to_char(pawl.now(), 'YYYY-MM-DD HH24:MI:SS') as at \gset
select run_id as r, fence as f from t.held(:s) \gset
select value ->> 'child' as k from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow"}') \gset
select is(t.answer(:s, :'r', :f, 'suspend'), 'ok', 'waits');
select is(pawl.why(:'r'), format('Waiting for child run %s (step kid#1) since %s.', :'k', :'at'), 'exactly');
select * from finish();
