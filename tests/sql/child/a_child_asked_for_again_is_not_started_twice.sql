-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select value ->> 'child' as k from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow"}') \gset
select is((select answer || ' ' || (value ->> 'child') from t.item(:s, :'r', :f, 'child', 'kid#1', '{}', '{"workflow": "kid.flow"}')), 'already ' || :'k', 'the same child');
select is((select count(*) from pawl.list_runs('kid.flow')), 1::bigint, 'one child');
select * from finish();
