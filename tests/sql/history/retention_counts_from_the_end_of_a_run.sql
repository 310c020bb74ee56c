-- SPDX-License-Identifier: Apache-2.0
select plan(14);

select t.session(lease => '1 day') as s \gset
create function pg_temp.days(n int, s bigint) returns void language plpgsql as $$
begin
    for v_hour in 1..n * 4 loop
        perform t.later('6 hours', s);
    end loop;
end $$;
select run_id as short, fence as f from t.held(:s) \gset
select t.answer(:s, :'short', :f, 'step', 'a#1', '1', null, 1), t.answer(:s, :'short', :f, 'complete', null, '1') \g /dev/null
select run_id as queued from pawl.trigger('test.flow', '{"q": 1}') \gset
select fence as qf from t.one(:s) \gset
select run_id as sleeping from pawl.trigger('test.flow', to_json(repeat('x', 3000))) \gset
select fence as f from t.one(:s) \gset
select t.answer(:s, :'sleeping', :f, 'step', 'a#1', '"kept"', null, 1), t.answer(:s, :'sleeping', :f, 'note', 'n', 'hello') \g /dev/null
select pawl.sleep(:s, :'sleeping', :f, 'nap', '40 days') \g /dev/null
select pg_temp.days(13, :s) \g /dev/null
select is(t.state(:'short'), 'SUCCESS', 'thirteen days after its end it is there');
select is(t.answer(:s, :'queued', :qf, 'complete', null, '1'), 'ok', 'one that was held for thirteen days ends now');
select pg_temp.days(4, :s) \g /dev/null
select throws_ok(format('select t.state(%L)', :'short'), 'PW001', null, 'the first is gone after seventeen');
select is(t.state(:'queued'), 'SUCCESS', 'the one that ended four days ago is not');
select is((select input::text from pawl.get_run(:'queued')), '{"q": 1}', 'nor is its input');
select is(t.state(:'sleeping'), 'PAUSED sleep', 'one that lives is never touched');
select pg_temp.days(24, :s) \g /dev/null
select fence as f, record from t.one(:s) \gset
select is(:'record'::json -> 'steps' -> 0 ->> 'output', 'kept', 'its record is whole after forty days');
select is((select length(input #>> '{}') from pawl.get_run(:'sleeping')), 3000, 'its large input too');
select is(t.answers(:s, json_build_array(json_build_object('run', :'sleeping', 'fence', :f, 'kind', 'step', 'name', 'b#1', 'payload', '1', 'seq', 3),
    json_build_object('run', :'sleeping', 'fence', :f, 'kind', 'complete', 'payload', '2'))), 'ok ok', 'and it ends well');
select is((select json_array_length(steps) from pawl.get_run(:'sleeping')), 3, 'with its steps');
select is((select count(*) from pawl.notes(:'sleeping')), 1::bigint, 'and its note');
select pg_temp.days(13, :s) \g /dev/null
select is(t.state(:'sleeping'), 'SUCCESS', 'thirteen days after its end it is there');
select pg_temp.days(4, :s) \g /dev/null
select throws_ok(format('select t.state(%L)', :'sleeping'), 'PW001', null, 'then it is gone as well');
select is((select count(*) from pawl_data.run_kept) + (select count(*) from pawl_data.step_kept) + (select count(*) from pawl_data.input_kept) + (select count(*) from pawl_data.note_kept), 0::bigint, 'without a trace');

select * from finish();
