-- SPDX-License-Identifier: Apache-2.0
select plan(3);
select t.session() as s \gset
select pawl.create_flow('empty.f') as c \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'child', 'k#1', '{}', '{"workflow": "empty.f"}'), 'refused', 'it is refused, as a trigger of it is');
select is(pawl.add_step('empty.f', 'a'), 'created', 'and not frozen by that');
select is(t.answer(:s, :'r', :f, 'child', 'k#1', '{}', '{"workflow": "empty.f"}'), 'ok', 'with a step it is one');
select * from finish();
