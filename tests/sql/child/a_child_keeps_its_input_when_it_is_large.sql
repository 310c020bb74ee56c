-- SPDX-License-Identifier: Apache-2.0
select plan(2);
select t.session() as s \gset
select pawl.create_workflow('kid.flow') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'child', 'kid#1', to_json(repeat('x', 50000))::text, '{"workflow": "kid.flow"}'), 'ok', 'a child with a large input');
select is((select length(input #>> '{}') from t.one(:s)), 50000, 'its worker gets all of it');
select * from finish();
