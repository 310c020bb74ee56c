-- SPDX-License-Identifier: Apache-2.0
-- A caller sends an id as new twice within 100 ms, which it has promised not to do, and the run has ended meanwhile.
select plan(15);

select t.session() as s \gset
select pawl.create_workflow('a.flow', max_attempts => 1) \g /dev/null
select pawl.make_id() as completed, pawl.make_id() as failed, pawl.make_id() as cancelled \gset
create function pg_temp.call_new(id uuid) returns boolean language sql as $$select created from pawl.trigger('a.flow', '{"n": 1}', id => $1, id_is_new => true)$$;

select is(pg_temp.call_new(i), true, 'the first') from unnest(array[:'completed', :'failed', :'cancelled']::uuid[]) i;
select is(t.answer(:s, c.run_id, c.fence, 'complete', null, '"first"'), 'ok', 'it ends') from pawl.claim(:s, 3, start => true) c;
select is(pg_temp.call_new(i), true, 'the second') from unnest(array[:'completed', :'failed', :'cancelled']::uuid[]) i;

select max(fence) as f from pawl.claim(:s, 3, start => true) \gset
select throws_ok(format('select t.answer(%s, %L, %s, ''complete'', null, ''"second"'')', :s, :'completed', :f), '23505', null, 'a plain end is refused');
select is(t.answers(:s, json_build_array(json_build_object('run', :'completed', 'fence', :f, 'kind', 'complete', 'payload', '"second"')), true), 'ok', 'a worker sends it alone then');
select is(t.answer(:s, :'failed', :f, 'fail', null, '{"code": "x"}', '{"final": true}'), 'ok', 'it fails');
select pawl.cancel(array[:'cancelled']::uuid[]) \g /dev/null
select is(t.answer(:s, :'cancelled', :f, 'release'), 'cancelled', 'it is cancelled');
select is((select count(*)::int from pawl_data.task), 0, 'all have ended');
select results_eq($$select output #>> '{}' from pawl_data.run$$, $$values ('first'), ('first'), ('first')$$, 'history is that of the first');

select * from finish();
