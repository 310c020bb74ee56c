-- SPDX-License-Identifier: Apache-2.0
select plan(11);
select t.session() as s \gset
select run_id as r, fence as f from t.held(:s) \gset
select is(t.answer(:s, :'r', :f, 'note', 'stage', 'half', '{"kind": "progress"}'), 'ok', 'progress');
select is(t.answer(:s, :'r', :f, 'note', null, 'hello'), 'ok', 'a line of log');
select is((select string_agg(concat_ws(' ', kind, name, body), ', ' order by note_no) from pawl.notes(:'r')), 'progress stage half, log hello', 'they are read in order');
select is((select answer from t.item(:s, :'r', :f, 'note', null, 'x', '{"kind": "other"}')), 'refused', 'another kind is refused');
select is((select answer from t.item(:s, :'r', :f, 'note', null, repeat('x', 16385))), 'refused', 'over sixteen kilobytes is refused');
select is((select answer from t.item(:s, :'r', :f, 'note', repeat('n', 201), 'x')), 'refused', 'a name of over 200 characters is refused');
insert into pawl_data.note (run_id, note_no, task_no, at, kind, body) select :'r', nextval('pawl_data.trail_no'), 0, pawl.now(), 'log', 'line ' || g from generate_series(1, 998) g;
select is((select answer || ': ' || reason from t.item(:s, :'r', :f, 'note', null, 'x')), 'refused: a run has at most 1000 notes', 'the thousand and first is refused');
select is((select count(*) from pawl.notes(:'r')), 1000::bigint, 'a thousand are read');
select is((select count(*) from pawl.notes(:'r', max_rows => 3)), 3::bigint, 'or fewer');
select is((select count(*) from pawl.notes(:'r', after => (select max(note_no) from pawl.notes(:'r', max_rows => 3)))), 997::bigint, 'or what comes after those already seen');
select throws_ok($$select * from pawl.notes(gen_random_uuid())$$, 'PW001', null, 'an unknown run');
select * from finish();
