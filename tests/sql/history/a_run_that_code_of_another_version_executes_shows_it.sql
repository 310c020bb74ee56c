-- SPDX-License-Identifier: Apache-2.0
-- After a deployment, the first question about a run that behaves differently is which code executed it.
select plan(11);
create function pg_temp.versions(p_run uuid) returns text language sql as $$
    select string_agg(concat_ws(' ', h.who, h.detail ->> 'from', '->', h.detail ->> 'to'), ', ' order by h.at)
    from pawl.history(p_run) h where h.what = 'version'
$$;
select pawl.test_clock_set('2030-01-01 12:00+00') \g /dev/null
select t.session(name => 'plain') as plain \gset
select session as old from pawl.register('old', '{*}', client => 'pawl-python/0.1 cpython-3.12', version => '7') \gset
select session as new from pawl.register('new', '{*}', client => 'libpawl/0.1.0', version => '8') \gset
select is((select string_agg(concat_ws(' ', worker, nullif(client, ''), version), ', ' order by worker) from pawl.list_workers()),
    'new libpawl/0.1.0 8, old pawl-python/0.1 cpython-3.12 7, plain', 'workers say what they are');
select is((select found from pawl.doctor() where what = 'workers'),
    '3 live: 1 libpawl/0.1.0 with code 8, 1 pawl-python/0.1 cpython-3.12 with code 7', 'doctor shows it');

-- A plain worker writes nothing.
select t.run() as p \gset
select fence as f from t.one(:plain) \gset
select t.answers(:plain, json_build_array(
    json_build_object('run', :'p', 'fence', :f, 'kind', 'sleep', 'name', 'nap#1', 'seq', 1, 'option', json_build_object('ms', 1000)),
    json_build_object('run', :'p', 'fence', :f, 'kind', 'suspend'))) \g /dev/null
select t.later('2 s', :plain);
select run_id as again, fence as f from t.one(:plain) \gset
select is(:'again'::uuid, :'p'::uuid, 'a run of plain workers is executed again');
select is(pg_temp.versions(:'p'), null, 'and nothing is said of versions');
select is((select count(*) from pawl_data.task where run_id = :'p' and version is null), 1::bigint, 'or stored');
select t.answer(:plain, :'p', :f, 'complete', null, '1') \g /dev/null

-- From one version to another, and to none.
select run_id as r, fence as f from t.held(:old) \gset
select is(pg_temp.versions(:'r'), null, 'the first execution is no change');
select t.answers(:old, json_build_array(
    json_build_object('run', :'r', 'fence', :f, 'kind', 'sleep', 'name', 'nap#1', 'seq', 1, 'option', json_build_object('ms', 1000)),
    json_build_object('run', :'r', 'fence', :f, 'kind', 'suspend'))) \g /dev/null
select t.later('2 s', :old);
select fence as f from t.one(:new) \gset
select is(pg_temp.versions(:'r'), 'new 7 -> 8', 'code of another version executes the run');
select t.answers(:new, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{"code": "no"}', 'option', json_build_object('retry_after_ms', 0)))) \g /dev/null
select t.later('5 s', :new);
select fence as f from t.one(:new) \gset
select is(pg_temp.versions(:'r'), 'new 7 -> 8', 'a retry by the same version is no change');

-- A retry of an ended run.
select t.answers(:new, json_build_array(json_build_object('run', :'r', 'fence', :f, 'kind', 'fail', 'payload', '{"code": "no"}', 'option', json_build_object('final', true)))) \g /dev/null
select is(t.state(:'r'), 'ERROR', 'the run fails');
select pawl.retry(array[:'r'::uuid]) \g /dev/null
select t.session(name => 'plain2') as plain2 \gset
select isnt((select run_id from t.one(:plain2)), null, 'a retry, by a worker that says nothing');
select is(pg_temp.versions(:'r'), 'new 7 -> 8, plain2 8 ->', 'is a change, too');

select * from finish();
