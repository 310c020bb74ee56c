-- SPDX-License-Identifier: Apache-2.0
select plan(28);

select t.session() as s \gset
select pawl.create_workflow('a.flow') \g /dev/null
select pawl.make_id() as id, pawl.make_id() as other \gset
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L, id_is_new => true)', :'id'), format('values (%L::uuid, true)', :'id'), 'the first');
select throws_ok(format('select pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L, id_is_new => true)', :'id'), '23505', null, 'called new again');
select throws_ok(format('select pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L, id_is_new => true, delay => ''1 s'')', :'id'), '23505', null, 'also if it is not plain');
select throws_ok(format('select pawl.trigger_many(''a.flow'', array[''{"n": 1}'']::json[], ids => array[%L::uuid], ids_are_new => true)', :'id'), '23505', null, 'by trigger_many');
select throws_ok(format('select pawl.trigger_many(''a.flow'', array[''{}'', ''{}'']::json[], ids => array[%1$L, %1$L]::uuid[], ids_are_new => true)', pawl.make_id()), '23505', null, 'twice in one call');
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L)', :'id'), format('values (%L::uuid, false)', :'id'), 'sent again, it is found');
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L, id_is_new => null)', :'id'), format('values (%L::uuid, false)', :'id'), 'null is not new');
select fence as f from t.one(:s) \gset
select is(t.answer(:s, :'id', :f, 'complete', null, '1'), 'ok', 'it ends');
select pawl.test_clock_advance('101 ms') \g /dev/null
select throws_ok(format('select pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L, id_is_new => true)', :'id'), 'PW010', null, 'a first call that comes too late');
select throws_ok(format('select pawl.trigger_many(''a.flow'', array[''{}'', ''{}'']::json[], ids => array[%L, %L]::uuid[], ids_are_new => true)', :'other', :'id'), 'PW010', null, 'one of many');
begin isolation level repeatable read;
select throws_ok(format('select pawl.trigger(''a.flow'', ''{"n": 1}'', id => %L, id_is_new => true)', :'id'), 'PW010', null, 'in repeatable read');
select throws_ok(format('select pawl.trigger_many(''a.flow'', array[''{}'', ''{}'']::json[], ids => array[%L, %L]::uuid[], ids_are_new => true)', :'other', :'id'), 'PW010', null, 'many in repeatable read');
commit;
select is(t.state(:'id'), 'SUCCESS', 'the run is as it was');
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', id => %L, id_is_new => true)', :'other'), format('values (%L::uuid, true)', :'other'), 'an older id that nobody has used');
select throws_ok($$select pawl.trigger('a.flow', id => pawl._id_make(pawl.now() + '61 min'), id_is_new => true)$$, 'PW003', null, 'an id has its hour');
select throws_ok($$select pawl.trigger('a.flow', id => overlay(pawl.make_id()::text placing '4' from 15)::uuid, id_is_new => true)$$, 'PW003', null, 'and its form');
-- An id that is ahead of the clock: its maker's clock is wrong, and does not tell how old it is.
select pawl._id_make(pawl.now() + '2 ms') as id, pawl._id_make(pawl.now() + '10 min') as far \gset
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', id => %L, id_is_new => true)', i), format('values (%L::uuid, true)', i), 'ahead')
from unnest(array[:'id', :'far']::uuid[]) i;
select is(t.answer(:s, c.run_id, c.fence, 'complete', null, '1'), 'ok', 'and ends') from pawl.claim(:s, 3, start => true) c where c.run_id <> :'other';
select throws_ok(format('select pawl.trigger(''a.flow'', id => %L, id_is_new => true)', i), 'PW010', null, 'called new again')
from unnest(array[:'id', :'far']::uuid[]) i;
select throws_ok(format('select pawl.trigger_many(''a.flow'', array[''{}'']::json[], ids => array[%L::uuid], ids_are_new => true)', i), 'PW010', null, 'among many')
from unnest(array[:'id', :'far']::uuid[]) i;
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', id => %L)', :'far'), format('values (%L::uuid, false)', :'far'), 'and sent again, it is found');
-- With keys.
select pawl.make_id() as id, pawl.make_id() as other \gset
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', key => ''k'', id => %L, id_is_new => true)', :'id'), format('values (%L::uuid, true)', :'id'), 'a key');
select results_eq(format('select run_id, created from pawl.trigger(''a.flow'', key => ''k'', id => %L, id_is_new => true)', :'other'), format('values (%L::uuid, false)', :'id'), 'the key decides, not the id');
select pawl.make_id() as l, pawl.make_id() as m \gset
select results_eq(format('select run_id, created from pawl.trigger_many(''a.flow'', array[''{}'', ''{}'', ''{}'']::json[], keys => array[''k'', ''l'', null], ids => array[%L, %L, %L]::uuid[], ids_are_new => true)', :'other', :'l', :'m'),
    format('values (%L::uuid, false), (%L, true), (%L, true)', :'id', :'l', :'m'), 'of many');

select * from finish();
