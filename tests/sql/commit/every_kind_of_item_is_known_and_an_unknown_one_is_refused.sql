-- SPDX-License-Identifier: Apache-2.0
select plan(8);

select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is((select string_agg(t.answer(:s, :'r', :f, k, 'x#1', '{}'), ' ') from unnest('{Step,steps,"",rollback,"complete "}'::text[]) k),
    'refused refused refused refused refused', 'unknown kinds');
select matches((select reason from t.item(:s, :'r', :f, 'teleport', 'x#1', '{}')), 'unknown kind "teleport"', 'with the reason');
select is(t.answer(:s, :'r', :f, 'note', 'greeting', 'any text', '{"kind": "log"}'), 'ok', 'note');
select is(t.answer(:s, :'r', :f, 'note', 'greeting', 'any text', '{"kind": "shout"}'), 'refused', 'an unknown kind of note');
select is(t.answer(:s, :'r', :f, 'start'), 'already', 'start');
select is(t.answer(:s, :'r', :f, 'confirm', 'tx#1'), 'refused', 'took, of a step that was not recorded');
select is(t.answer(:s, :'r', :f, 'suspend'), 'refused', 'suspend, of a run that waits for nothing');
select is(t.state(:'r'), 'RUNNING', 'the run is held all the time');

select * from finish();
