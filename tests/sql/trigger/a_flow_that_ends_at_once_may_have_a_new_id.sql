-- SPDX-License-Identifier: Apache-2.0
-- An id that is older than 100 ms is searched for among ended runs. A flow whose steps are all skipped is one of these when its trigger returns.
select plan(10);

select t.stop_clock() \g /dev/null
select pawl.create_flow('f.now') \g /dev/null
select pawl.add_step('f.now', 's', '{}', '{"condition": {"/id": 2}, "unmet": "skip_all"}') \g /dev/null
select pawl._id_make(pawl.now() - interval '1 s') as one, pawl._id_make(pawl.now() - interval '1 s') as other \gset
select results_eq(format('select run_id, created from pawl.trigger(''f.now'', id => %L, id_is_new => true)', :'one'), format('values (%L::uuid, true)', :'one'), 'a trigger');
select is(t.state(:'one'), 'SUCCESS', 'it has ended');
select results_eq(format('select run_id, created from pawl.trigger_many(''f.now'', array[''{}'']::json[], ids => array[%L]::uuid[], ids_are_new => true)', :'other'), format('values (%L::uuid, true)', :'other'), 'and many');
select is(t.state(:'other'), 'SUCCESS', 'have ended');
select throws_ok(format('select pawl.trigger(''f.now'', ''{"id": 2}'', id => %L, id_is_new => true)', :'one'), 'PW010', null, 'sent again as new');
select throws_ok(format('select pawl.trigger_many(''f.now'', array[''{"id": 2}'']::json[], ids => array[%L]::uuid[], ids_are_new => true)', :'other'), 'PW010', null, 'and many');
select results_eq(format('select run_id, created from pawl.trigger(''f.now'', id => %L)', :'one'), format('values (%L::uuid, false)', :'one'), 'and without');
select is(t.state(:'one'), 'SUCCESS', 'there is one run');

-- The input of the ended run is kept in a row of its own, which has the same id.
select pawl._id_make(pawl.now() - interval '1 s') as large \gset
select run_id from pawl.trigger('f.now', to_json(repeat('x', 3000)), id => :'large') \g /dev/null
select throws_ok(format('select pawl.trigger(''f.now'', to_json(repeat(''x'', 3000)), id => %L, id_is_new => true)', :'large'), 'PW010', null, 'a large input sent again as new');
select throws_ok(format('select pawl.trigger_many(''f.now'', array[to_json(repeat(''x'', 3000))], ids => array[%L]::uuid[], ids_are_new => true)', :'large'), 'PW010', null, 'and many');

select * from finish();
