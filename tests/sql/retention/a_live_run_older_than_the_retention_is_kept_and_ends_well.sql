-- SPDX-License-Identifier: Apache-2.0
select plan(16);
select t.session(lease => '1 day') as s \gset
select run_id as r, fence as f from t.held(:s, input => to_json(repeat('x', 5000))) \gset
select is((select answer from pawl.step(:s, :'r', :f, 'one', '"old"')), 'ok', 'a step');
select is(t.answer(:s, :'r', :f, 'note', 'n', 'a note'), 'ok', 'a note');
select is((select answer from pawl.sleep(:s, :'r', :f, 'nap', '20 days')), 'ok', 'then it sleeps for long');
do $$ begin for i in 1..4 loop perform t.later('5 days', (select max(session_id) from pawl_data.worker)); end loop; for i in 1..40 loop perform t.later('2 s', (select max(session_id) from pawl_data.worker)); end loop; end $$;
do $$ begin for i in 1..10 loop call pawl.tick(true); end loop; end $$;
select is((select count(*) from pg_class c where c.relname = 'step_' || to_char(pawl._id_time(:'r') at time zone 'UTC', 'YYYYMMDD')), 0::bigint, 'the partition of its day is gone');
select is(t.state(:'r'), 'QUEUED', 'the run is not');
select fence as f, record, input from t.one(:s) \gset
select is((select string_agg(e ->> 'name' || ' ' || coalesce(e ->> 'output', '-'), ', ') from json_array_elements(:'record'::json -> 'steps') e), 'one#1 old, nap#1 -', 'its records are there');
select is(length(:'input'), 5002, 'and its input');
select is((select answer || ' ' || (value ->> 'output') from pawl.step(:s, :'r', :f, 'one', '2')), 'already old', 'a finished step is not done again');
select is((select answer from pawl.step(:s, :'r', :f, 'two', '2')), 'ok', 'a new one is recorded');
select is(t.answer(:s, :'r', :f, 'note', 'n', 'another'), 'ok', 'and a note');
select is((select answer from pawl.complete(:s, :'r', :f, '"done"')), 'ok', 'it ends');
select is(t.state(:'r'), 'SUCCESS', 'well');
select is((select count(*) from pawl.notes(:'r')), 2::bigint, 'with its notes');
select t.later('13 days');
select is(t.state(:'r'), 'SUCCESS', 'retention counts from its end');
select pawl.test_clock_advance('2 days') \gset
do $$ begin for i in 1..20 loop perform t.later('70 s'); end loop; end $$;
select throws_ok(format('select * from pawl.get_run(%L)', :'r'), 'PW001', null, 'then it leaves');
select is((select (select count(*) from pawl_data.run_kept) + (select count(*) from pawl_data.step_kept) + (select count(*) from pawl_data.audit_kept) + (select count(*) from pawl_data.note_kept) + (select count(*) from pawl_data.input_kept)), 0::bigint, 'with every row that was kept');
select * from finish();
