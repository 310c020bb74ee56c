-- SPDX-License-Identifier: Apache-2.0
select plan(12);

-- Writes what the run is to have recorded: so many steps with an output of one million bytes, compressed once.
create temp table page as select to_json(repeat('x', 999998)) as output;
create function pg_temp.record_mb(run uuid, mb int) returns void language sql as $$
    insert into pawl_data.step (run_id, task_no, round, state, kind, seq, attempt, fence, started_at, ended_at, name, output)
    select run, 0, 1, 's', 's', i, 1, 1, now(), now(), 'page#' || i, p.output
    from generate_series(1, mb) i, page p
$$;

select t.session() as s \gset
select t.run() as a \gset
select t.later('1 s') \g /dev/null
select t.run() as b \gset
select t.run() as c \gset
select count(*) from pawl.claim(:s, 3) \g /dev/null
select pg_temp.record_mb(:'a', 70) \g /dev/null
select pg_temp.record_mb(:'b', 20) \g /dev/null
select pg_temp.record_mb(:'c', 30) \g /dev/null
select t.answers(:s, json_build_array(json_build_object('run', :'a', 'fence', 1, 'kind', 'release'),
    json_build_object('run', :'b', 'fence', 1, 'kind', 'release'), json_build_object('run', :'c', 'fence', 1, 'kind', 'release'))) \g /dev/null
select t.run() as new \gset

create temp table got as select run_id, octet_length(record::text) as bytes, record is null as new from pawl.claim(:s, 10);
select is((select array_agg(run_id) from got where not new), array[:'a'::uuid], 'one record that is larger than the bound is handed out');
select is((select bytes > 70000000 from got where not new), true, 'whole');
select is((select run_id from got where new), :'new'::uuid, 'a run that has no record is handed out beside it');
select is((select array_agg(place) from pawl_data.task where run_id in (:'b', :'c')), '{r,r}', 'the others stay ready');
select is((select array_agg(distinct fence) from pawl_data.task where run_id in (:'b', :'c')), array[1], 'and their fences are not raised');
create temp table more as select run_id, octet_length(record::text) as bytes from pawl.claim(:s, 10);
select set_eq('select run_id from more', array[:'b', :'c']::uuid[], 'the next claim takes them together');
select is((select count(*) from pawl.claim(:s, 10)), 0::bigint, 'and that is all');

-- A run that cannot be handed out at all ends, and nobody is hindered.
select t.run() as d \gset
select t.run() as e \gset
select count(*) from pawl.claim(:s, 2) \g /dev/null
select pg_temp.record_mb(:'d', 270) \g /dev/null
select t.answers(:s, json_build_array(json_build_object('run', :'d', 'fence', 1, 'kind', 'release'),
    json_build_object('run', :'e', 'fence', 1, 'kind', 'release'))) \g /dev/null
select is((select array_agg(run_id) from pawl.claim(:s, 2)), array[:'e'::uuid], 'the other run is handed out');
select is((select status from pawl_data.run where run_id = :'d'), 'e'::"char", 'the one that is too large has ended');
select is((select error ->> 'code' from pawl_data.run where run_id = :'d'), 'record_too_large', 'its error says why');

-- With an undo that nobody can run any more.
select run_id as u, fence as f from t.held(:s) \gset
select t.answer(:s, :'u', :f, 'begin', 'book#1', null, '{"undo": {"handler": "cancel"}}', 1000) \g /dev/null
select pg_temp.record_mb(:'u', 270) \g /dev/null
select t.answer(:s, :'u', :f, 'release') \g /dev/null
select is((select count(*) from pawl.claim(:s)), 0::bigint, 'it is not handed out');
select is((select (error ->> 'code', error -> 'error' ->> 'code', error ->> 'not_undone')::text from pawl_data.run where run_id = :'u'),
    '(rollback_failed,record_too_large,"[""book#1""]")', 'its error tells what was not undone');

select * from finish();
